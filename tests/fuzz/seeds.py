# SPDX-License-Identifier: GPL-3.0-or-later
# seeds.py KIND DIRECTORY: small sound inputs for the fuzz targets of that kind, written as the C headers have them.
import struct
import sys

kind, directory = sys.argv[1:]


def write(name, data):
    with open(f"{directory}/{name}", "wb") as f:
        f.write(data)


def edges():  # probes/edges/runtime/log.h
    path = b"/nowhere/app\0\0\0\0"
    module = struct.pack("<IIQQQ", 1, 32 + len(path), 0x10000, 0x10000, 0x20000) + path
    first = struct.pack("<IIQQ", 2, 24, 0, 0x11000)
    second = struct.pack("<IIQQ", 2, 24, 0x11000, 0x11020)
    cut = struct.pack("<IIIIQQQQQQQQ", 3, 80 + 32, 0, 2, 0x11040, 5, 100, 200, 300, 90, 0, 1)
    counts = struct.pack("<QQQQ", 0, 1, 1, 41)
    body = module + first + second + cut + counts
    write("log", struct.pack("<QQIIII", 0x3173656764655349, len(body), 7, 9, 0, 0) + body)


def inproc():  # probes/inproc/inproc.h
    def slot(tid, n):
        return struct.pack("<IIQQ16s24xQ56x", 1, tid, n, 0, b"worker", 0)

    def name(number, what, *strings):
        text = b"".join(s + b"\0" for s in strings)
        text += b"\0" * (-(16 + len(text)) % 8)
        return struct.pack("<IIII", 16 + len(text), number, what, 12) + text

    def record(at, value, what, depth):
        return struct.pack("<QIHH", at, value, what, depth)

    names = name(0, 1, b"a.B.c", b"()", b"B.java") + name(1, 2, b"a.B.c", b"()", b"B.java")
    names += name(3, 4, b"a.B.d", b"()", b"B.java") + name(1, 5, b"3", b"", b"") + name(0, 7, b"word", b"", b"")
    ring = b"".join(record(100 + i, i & 1, 1 + (i & 1), 0) for i in range(8))
    ring += record(200, 3, 3, 0) + record(201, 0, 4, 0) + record(210, 0, 5, 0) + record(220, 2, 6, 0)
    ring += record(230, 1, 7, 0) + record(231, 0, 8, 0)
    ring += b"\0" * (1024 - len(ring))
    write("region", struct.pack("<H", len(names)) + slot(8, 14) + slot(9, 8) + slot(0, 0) * 2 + names + ring * 2)


def answers():  # RowBinary: a string is its length and its bytes, numbers are little-endian
    def string(s):
        return bytes([len(s)]) + s

    def answer(body):
        return struct.pack("<H", len(body)) + body

    metas = [b"cycles", b"cycles", b"lower", b"executable", b"3600000000000", b"2"]
    numbers = struct.pack("<6Q", 2, 3, 100, 10, 1, 2)
    row = struct.pack("<QQ", 10, 1000) + b"\0" * 16 + struct.pack("<Q", 1) + b"\0" * 80
    row += string(b"") + string(b"a@1") + string(b"b@1") + string(b"core")
    write("meta", b"".join(answer(string(m)) for m in metas) + answer(numbers) + answer(string(b"x") + numbers) + answer(row) * 4)
    write("rows", answer(string(b"type") + struct.pack("<Q", 9)) + answer(row * 2) * 6)


def code():  # both machines: push, a loop with pause, a switch, ret; stp, a loop with yield, ret
    x86 = bytes.fromhex("f30f1efa554889e5 4883ec20 f390 ffc8 75fa 83ff05 7707 3effe2 0f1f440000 c9c3 e800000000 f00fb10f c3")
    arm = struct.pack("<8I", 0xD503233F, 0xA9BF7BFD, 0x910003FD, 0xD503203F, 0x35FFFFE0, 0xA8C17BFD, 0xD50323BF, 0xD65F03C0)
    write("x86", bytes([0, 1, 0, 0]) + x86)
    write("x86-parts", bytes([10, 3, 20, 0]) + x86)
    write("arm64", bytes([1, 1, 0, 0]) + arm)
    write("arm64-parts", bytes([25, 1, 16, 0]) + arm)


def unwind():  # .eh_frame_hdr, and behind it .eh_frame with code that it describes; a dynamic section with its strings
    first = 64 + 3 * 56  # where the table lies in the file that is made of it

    def entry(body):
        body += b"\0" * (-(4 + len(body)) % 8)
        return struct.pack("<I", len(body)) + body

    def uleb(n):
        return bytes([n & 0x7F | (0x80 if n > 0x7F else 0)]) + (uleb(n >> 7) if n > 0x7F else b"")

    def made(name, programs):
        head_bytes = 12 + 8 * len(programs)
        code_at, frames_at = 2048, head_bytes + (-head_bytes % 8)
        frames = entry(struct.pack("<IB", 0, 1) + b"zR\0" + uleb(1) + b"\x78\x10\x01\x1b" + b"\x0c\x07\x08\x90\x01")
        table = b""
        for i, program in enumerate(programs):
            at, start = frames_at + len(frames), code_at + 512 * i
            table += struct.pack("<ii", start, at)
            frames += entry(struct.pack("<Iii", at + 4 - frames_at, start - (at + 8), 512) + b"\0" + program)
        head = bytes([1, 0x1B, 3, 0x3B]) + struct.pack("<iI", frames_at - 4, len(programs)) + table
        body = (head.ljust(frames_at, b"\0") + frames).ljust(code_at, b"\0") + b"\x55\xc3" * 256 * len(programs)
        strings = b"\0libc.so.6\0$ORIGIN/lib\0"
        dynamic = struct.pack("<10Q", 5, 0x10000 + first + len(body) + 80, 1, 1, 29, 11, 14, 1, 0, 0)
        stack = struct.pack("<32Q", *(0x7F0000000000 + first + code_at + 512 * (i % len(programs)) + 8 if i % 4 < 2 else 0x7FFC00000010 + 8 * i for i in range(32)))
        write(name, stack + struct.pack("<H", len(body)) + body + dynamic + strings)

    advance = b"\x41\x0e\x10\x86\x02\x43\x0d\x06"
    expression = b"\x0f" + uleb(4) + b"\x77\x08\x23\x08"
    loop = b"\x0f" + uleb(4) + b"\x96\x2f\xfc\xff"
    saved = b"\x10\x06" + uleb(3) + b"\x77\x10\x06" + b"\x16\x03" + uleb(2) + b"\x77\x08"
    remember = b"\x0a\x41\x0e\x20\x0b\x2e\x10\x07\x03\x09\x03\x06"
    made("usual", [advance, advance])
    made("expressions", [expression, loop, saved])
    made("states", [remember, advance, remember * 8])


{"code": code, "unwind": unwind, "edges": edges, "inproc": inproc, "answers": answers}[kind]()
