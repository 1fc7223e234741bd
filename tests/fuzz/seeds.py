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


{"edges": edges, "inproc": inproc, "answers": answers}[kind]()
