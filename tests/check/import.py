# SPDX-License-Identifier: GPL-3.0-or-later
"""A trace's text as a perf.data of uprobes, as perf record would have made it.

    import.py [--pipe] [--zstd] [--shuffle] [--no-sp] [--lost CPU:NS:COUNT] [--map FILE] < TEXT > perf.data
"""
import argparse
import random
import re
import struct
import subprocess
import sys

IP, TID, TIME, ID, CPU, PERIOD, RAW, REGS_USER = (1 << b for b in (0, 1, 2, 6, 7, 8, 10, 12))
SP_BIT = 7
FUNCTION, RETURNS_TO = 0x400000, 0x7000


def arguments():
    p = argparse.ArgumentParser()
    for flag in ("--pipe", "--zstd", "--shuffle", "--no-sp"):
        p.add_argument(flag, action="store_true")
    p.add_argument("--lost")
    p.add_argument("--map")
    return p.parse_args()


def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


class File:
    def __init__(self, options):
        self.sp = not options.no_sp
        self.type = IP | TID | TIME | ID | CPU | PERIOD | RAW | (REGS_USER if self.sp else 0)
        self.events = []  # names; the id is 100 + index
        self.of_cpu = {}

    def attr(self, i):
        flags = 1 << 18  # sample_id_all
        attr = struct.pack("<IIQQQQQ", 2, 112, 1000 + i, 1, self.type, 0, flags)
        attr += bytes(80 - len(attr)) + struct.pack("<Q", 1 << SP_BIT if self.sp else 0)
        return attr + bytes(112 - len(attr))

    def event(self, name):
        if name not in self.events:
            self.events.append(name)
        return 100 + self.events.index(name)

    def trailer(self, r):
        return struct.pack("<IIQQII", r["tgid"], r["tid"], r["time"], 100, r["cpu"], 0)

    def put(self, r, kind, misc, body, trailer=True):
        data = record(kind, misc, body + (self.trailer(r) if trailer else b""))
        self.of_cpu.setdefault(r["cpu"], []).append((r["time"], data))

    def sample(self, r, name, ip, fields, sp):
        raw = struct.pack("<HBBi", 1, 0, 0, r["tid"]) + fields
        raw += bytes(-(len(raw) + 4) % 8)
        body = struct.pack("<QIIQQIIQ", ip, r["tgid"], r["tid"], r["time"], self.event(name),
                           r["cpu"], 0, 1)
        body += struct.pack("<I", len(raw)) + raw
        if self.sp:
            body += struct.pack("<QQ", 2, sp)
        self.put(r, 9, 2, body, False)


LINE = re.compile(r"(\d+) (\d+) (\d+)/(\d+) (\S+) ?(.*)")


def add(f, r, what, rest, ids):
    if what in ("entry", "exit"):
        name, sp = rest.replace('"', "").split(" sp=")
        at, sp = FUNCTION + 0x1000 * ids.setdefault(name, len(ids)), int(sp, 16)
        if what == "entry":
            f.sample(r, "probe_app:" + name, at, struct.pack("<Q", at), sp)
        else:
            f.sample(r, f"probe_app:{name}__return", RETURNS_TO,
                     struct.pack("<QQ", at, RETURNS_TO), sp + 8)
    elif what in ("switch-in", "switch-out"):
        misc = 0 if what == "switch-in" else 1 << 13 | (1 << 14 if "preempted" in rest else 0)
        f.put(r, 14, misc, b"")
    elif what == "fork":
        tid, tgid = (int(x) for x in re.findall(r"\d+", rest))
        f.put(r, 7, 0, struct.pack("<IIIIQ", tgid, r["tgid"], tid, r["tid"], r["time"]))
    elif what == "task-exit":
        f.put(r, 4, 0, struct.pack("<IIIIQ", r["tgid"], r["tgid"], r["tid"], r["tid"], r["time"]))


def read(f):
    ids = {}
    for line in sys.stdin:
        m = LINE.match(line)
        if m:
            time, cpu, tid, tgid = (int(x) for x in m.group(1, 2, 3, 4))
            add(f, {"time": time, "cpu": cpu, "tid": tid, "tgid": tgid}, m[5], m[6], ids)


def lose(f, where):
    cpu, time, count = (int(x) for x in where.split(":"))
    r = {"time": time, "cpu": cpu, "tid": 0, "tgid": 0}
    f.put(r, 2, 0, struct.pack("<QQ", 100, count))


def map_file(f, path):
    """Where the functions are, in the first process, from its start on."""
    time, data = min(r for records in f.of_cpu.values() for r in records)
    name = path.encode() + b"\0"
    body = struct.pack("<IIQQQIIQQII", 100, 100, FUNCTION, 1 << 20, 0, 8, 1, 1, 0, 5, 2)
    f.put({"time": time, "cpu": 0, "tid": 100, "tgid": 100}, 10, 2, body + name + bytes(-len(name) % 8))


def rounds(f, shuffle):
    """The records of each CPU follow each other; CPUs come in turns, in any order."""
    for records in f.of_cpu.values():
        records.sort(key=lambda x: x[0])
    if not shuffle:
        return [b"".join(d for _, d in sorted(sum(f.of_cpu.values(), []), key=lambda x: x[0]))]
    end = max(r[-1][0] for r in f.of_cpu.values()) + 1
    random.seed(7)
    out, last, step = [], 0, end // 20
    for until in list(range(step, end, step)) + [end]:
        turn = b""
        for cpu in random.sample(sorted(f.of_cpu), len(f.of_cpu)):
            # a CPU may be read a little later than another of the same turn
            upto = until + random.randrange(step // 2)
            mine = f.of_cpu[cpu]
            n = sum(t < upto for t, _ in mine)
            turn += b"".join(d for _, d in mine[:n])
            f.of_cpu[cpu] = mine[n:]
        out.append(turn)
    out.append(b"".join(d for r in f.of_cpu.values() for _, d in r))
    return out


def packed(data):
    z = subprocess.run(["zstd", "-qc"], input=data, stdout=subprocess.PIPE, check=True).stdout
    return b"".join(record(81, 0, z[i:i + 30000]) for i in range(0, len(z), 30000))


def string(s):
    data = s.encode() + b"\0"
    data += bytes(-len(data) % 64)
    return struct.pack("<I", len(data)) + data


def names(f):
    out = struct.pack("<II", len(f.events), 112)
    for i, name in enumerate(f.events):
        out += f.attr(i) + struct.pack("<I", 1) + string(name) + struct.pack("<Q", 100 + i)
    return out


def write_pipe(f, data, out):
    out.write(b"PERFILE2" + struct.pack("<Q", 16))
    for i in range(len(f.events)):
        out.write(record(64, 0, f.attr(i) + struct.pack("<Q", 100 + i)))
    for i, name in enumerate(f.events):
        text = name.encode() + b"\0"
        text += bytes(-len(text) % 8)
        out.write(record(78, 0, struct.pack("<QQ", 2, 100 + i) + text))
    out.write(data)


def write_file(f, data, out):
    n = len(f.events)
    ids = 104
    attrs = ids + 8 * n
    begin = attrs + (112 + 16) * n
    described = begin + len(data) + 16
    out.write(b"PERFILE2" + struct.pack("<QQ", 104, 128))
    out.write(struct.pack("<QQQQQQ", attrs, 128 * n, begin, len(data), 0, 0))
    out.write(struct.pack("<QQQQ", 1 << 12, 0, 0, 0))
    out.write(b"".join(struct.pack("<Q", 100 + i) for i in range(n)))
    out.write(b"".join(f.attr(i) + struct.pack("<QQ", ids + 8 * i, 8) for i in range(n)))
    out.write(data)
    out.write(struct.pack("<QQ", described, len(names(f))) + names(f))


def main():
    options = arguments()
    f = File(options)
    read(f)
    if options.lost:
        lose(f, options.lost)
    if options.map:
        map_file(f, options.map)
    turns = rounds(f, options.shuffle)
    if options.zstd:
        data = packed(record(68, 0, b"").join(turns))
    else:
        data = record(68, 0, b"").join(turns)
    (write_pipe if options.pipe else write_file)(f, data, sys.stdout.buffer)


main()
