# SPDX-License-Identifier: GPL-3.0-or-later
"""A trace's text as a perf.data of uprobes, as perf record would have made it.

    import.py [--pipe] [--zstd] [--shuffle] [--no-sp] [--lost CPU:NS:COUNT] [--map FILE]
              [--formats KIND] [--sched wide|process] [--no-names] < TEXT > perf.data

--formats: the file has tracing data, and each sample the values that the text has. KIND is how the machine lays
samples out: usual, moved (as kernels do that have a common field more, RT's), words32. --sched: switches are the
scheduler's tracepoint, of all of the machine or of the program alone.
"""
import argparse
import json
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
    for flag in ("--pipe", "--zstd", "--shuffle", "--no-sp", "--no-names"):
        p.add_argument(flag, action="store_true")
    p.add_argument("--lost")
    p.add_argument("--map")
    p.add_argument("--formats", choices=("usual", "moved", "words32"))
    p.add_argument("--sched", choices=("wide", "process"))
    return p.parse_args()


def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


LONG = "unsigned long"
COMMON = [("unsigned short", "common_type", 2), ("unsigned char", "common_flags", 1),
          ("unsigned char", "common_preempt_count", 1), ("int", "common_pid", 4)]
LAZY = [("unsigned char", "common_preempt_lazy_count", 1)]
SWITCH = [("char", "prev_comm[16]", 16), ("pid_t", "prev_pid", 4), ("int", "prev_prio", 4), ("long", "prev_state", 0),
          ("char", "next_comm[16]", 16), ("pid_t", "next_pid", 4), ("int", "next_prio", 4)]


class Layout:
    """An event's fields as a machine places them: (type, name, bytes); 0 bytes: a word."""

    def __init__(self, kind, own):
        self.word = 4 if kind == "words32" else 8
        common = COMMON + (LAZY if kind == "moved" else [])
        at, self.common, self.own = 0, [], []
        for fields, out in ((common, self.common), (own, self.own)):
            for what, name, size in fields:
                size = size or self.word
                step = 1 if "[" in name else size
                at += -at % step
                out.append((what, name, at, size))
                at += size
            at += -at % self.word
        self.bytes = at

    def pack(self, i, r, values):
        raw = bytearray(self.bytes)
        for what, name, at, size in self.common + self.own:
            v = {"common_type": 1000 + i, "common_pid": r["tid"]}.get(name, values.get(name, 0))
            if isinstance(v, int):
                raw[at:at + size] = (v & (1 << 8 * size) - 1).to_bytes(size, "little")
        return bytes(raw)

    def text(self, i, name):
        def line(field):
            what, name, at, size = field
            signed = int(what in ("int", "long", "pid_t") or what[0] == "s")
            return f"\tfield:{what} {name};\toffset:{at};\tsize:{size};\tsigned:{signed};\n"
        return (f"name: {name}\nID: {1000 + i}\nformat:\n" + "".join(map(line, self.common)) + "\n" +
                "".join(map(line, self.own)) + '\nprint fmt: "%s", __print_flags(REC->prev_state, "|", { 1, "S" })\n')


class File:
    def __init__(self, options):
        self.sp = not options.no_sp
        self.kind, self.sched, self.no_names = options.formats, options.sched, options.no_names
        self.layouts = []
        self.arguments = {}  # of a function: {bit: name}
        self.type = IP | TID | TIME | ID | CPU | PERIOD | RAW | (REGS_USER if self.sp else 0)
        self.events = []  # names; the id is 100 + index
        self.of_cpu = {}

    def attr(self, i):
        flags = 1 << 18  # sample_id_all
        attr = struct.pack("<IIQQQQQ", 2, 112, 1000 + i, 1, self.type, 0, flags)
        attr += bytes(80 - len(attr)) + struct.pack("<Q", 1 << SP_BIT if self.sp else 0)
        return attr + bytes(112 - len(attr))

    def event(self, name, fields):
        if name not in self.events:
            self.events.append(name)
            self.layouts.append(Layout(self.kind, fields))
        return self.events.index(name)

    def trailer(self, r):
        return struct.pack("<IIQQII", r["tgid"], r["tid"], r["time"], 100, r["cpu"], 0)

    def put(self, r, kind, misc, body, trailer=True):
        data = record(kind, misc, body + (self.trailer(r) if trailer else b""))
        self.of_cpu.setdefault(r["cpu"], []).append((r["time"], data))

    def sample(self, r, name, ip, fields, values, sp):
        i = self.event(name, fields)
        raw = self.layouts[i].pack(i, r, values)
        raw += bytes(-(len(raw) + 4) % 8)
        body = struct.pack("<QIIQQIIQ", ip, r["tgid"], r["tid"], r["time"], 100 + i, r["cpu"], 0, 1)
        body += struct.pack("<I", len(raw)) + raw
        if self.sp:
            body += struct.pack("<QQ", 2, sp)
        self.put(r, 9, 2, body, False)

    def call(self, r, function, at, sp, is_exit, values):
        """values: {bit: value}"""
        named = {bit: name for bit, name in self.arguments.get(function, {}).items() if (bit == 9) == is_exit}
        own = [("u64", name, 8) for name in named.values()] if self.kind else []
        mine = {name: values.get(bit, 0) for bit, name in named.items()}
        if is_exit:
            self.sample(r, f"probe_app:{function}__return", RETURNS_TO, [(LONG, "__probe_func", 0),
                        (LONG, "__probe_ret_ip", 0)] + own,
                        {"__probe_func": at, "__probe_ret_ip": RETURNS_TO, **mine}, sp)
        else:
            self.sample(r, "probe_app:" + function, at, [(LONG, "__probe_ip", 0)] + own, {"__probe_ip": at, **mine}, sp)

    def switch(self, r, out, preempted):
        """By the thread that stops; that it goes on, another says, if that is recorded as well."""
        if not out and self.sched == "process":
            return
        by = r if out else {**r, "tid": 0, "tgid": 0}
        self.sample(by, "sched:sched_switch", 0, SWITCH, {"prev_state": int(out and not preempted),
                    "prev_pid": by["tid"], "next_pid": 0 if out else r["tid"]}, 0)


LINE = re.compile(r"(\d+) (\d+) (\d+)/(\d+) (\S+) ?(.*)")


def add(f, r, what, rest, ids, values):
    if what in ("entry", "exit"):
        name, sp = rest.replace('"', "").split(" sp=")
        at, sp = FUNCTION + 0x1000 * ids.setdefault(name, len(ids)), int(sp, 16)
        if f.kind == "words32":
            at, sp = at % (1 << 32), sp // 2 % (1 << 32)
        f.call(r, name, at, sp + (Layout(f.kind, []).word if what == "exit" else 0), what == "exit", values)
    elif what in ("switch-in", "switch-out") and f.sched:
        f.switch(r, what == "switch-out", "preempted" in rest)
    elif what in ("switch-in", "switch-out"):
        misc = 0 if what == "switch-in" else 1 << 13 | (1 << 14 if "preempted" in rest else 0)
        f.put(r, 14, misc, b"")
    elif what == "fork":
        tid, tgid = (int(x) for x in re.findall(r"\d+", rest))
        f.put(r, 7, 0, struct.pack("<IIIIQ", tgid, r["tgid"], tid, r["tid"], r["time"]))
    elif what == "task-exit":
        f.put(r, 4, 0, struct.pack("<IIIIQ", r["tgid"], r["tgid"], r["tid"], r["tid"], r["time"]))


def split(line):
    m = LINE.match(line)
    return ({"time": int(m[1]), "cpu": int(m[2]), "tid": int(m[3]), "tgid": int(m[4])}, m[5], m[6])


def read(f):
    lines = sys.stdin.read().splitlines()
    for line in lines:
        if line.startswith('{"kind":"function"'):
            of = json.loads(line)
            f.arguments[of["name"]] = {a["bit"]: a["name"] for a in of.get("args", [])}
    records = [split(line) for line in lines if LINE.match(line)]
    ids, values, entry, result = {}, {}, {}, {}
    for i, (r, what, rest) in enumerate(records):
        tid = r["tid"]
        if what == "args":  # of the entry before, or what the exit behind it returns
            mask, *v = rest.split()
            bits = [b for b in range(10) if int(mask.split("=")[1], 16) >> b & 1]
            (result if bits == [9] else values)[tid if bits == [9] else entry[tid]] = dict(zip(bits, map(int, v)))
        elif what == "entry":
            entry[tid] = i
        elif what == "exit":
            values[i] = result.pop(tid, {})
    for i, (r, what, rest) in enumerate(records):
        if what != "args":
            add(f, r, what, rest, ids, values.get(i, {}))


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


def mark_wide(f):
    """As perf says of a recording of all of the machine: the processes that were there, init among them."""
    time, _ = min(r for records in f.of_cpu.values() for r in records)
    f.put({"time": time, "cpu": 0, "tid": 1, "tgid": 1}, 3, 0, struct.pack("<II", 1, 1) + b"init\0\0\0\0")


def tracing_data(f):
    out = b"\027\010\104tracing0.6\0" + bytes([0, 4 if f.kind == "words32" else 8]) + struct.pack("<I", 4096)
    for name in (b"header_page\0", b"header_event\0"):
        out += name + struct.pack("<Q", 3) + b"any"
    out += struct.pack("<I", 1) + struct.pack("<Q", 5) + b"other"  # ftrace's
    systems = {}
    for i, name in enumerate(f.events):
        systems.setdefault(name.split(":")[0], []).append(f.layouts[i].text(i, name.split(":")[1]))
    out += struct.pack("<I", len(systems))
    for system, texts in systems.items():
        out += system.encode() + b"\0" + struct.pack("<I", len(texts))
        for text in texts:
            out += struct.pack("<Q", len(text)) + text.encode()
    return out + struct.pack("<IIQ", 0, 0, 0)  # no symbols of the kernel, no formats of printk, no commands


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
        if not f.no_names:
            out.write(record(78, 0, struct.pack("<QQ", 2, 100 + i) + text))
    if f.kind:
        tracing = tracing_data(f)
        out.write(record(66, 0, struct.pack("<I", len(tracing))) + tracing + bytes(-len(tracing) % 8))
    out.write(data)


def write_file(f, data, out):
    n = len(f.events)
    ids = 104
    attrs = ids + 8 * n
    begin = attrs + (112 + 16) * n
    features = {} if f.no_names else {12: names(f)}
    if f.kind:
        features[1] = tracing_data(f)
    at = begin + len(data) + 16 * len(features)
    out.write(b"PERFILE2" + struct.pack("<QQ", 104, 128))
    out.write(struct.pack("<QQQQQQ", attrs, 128 * n, begin, len(data), 0, 0))
    out.write(struct.pack("<QQQQ", sum(1 << feature for feature in features), 0, 0, 0))
    out.write(b"".join(struct.pack("<Q", 100 + i) for i in range(n)))
    out.write(b"".join(f.attr(i) + struct.pack("<QQ", ids + 8 * i, 8) for i in range(n)))
    out.write(data)
    for feature in sorted(features):
        out.write(struct.pack("<QQ", at, len(features[feature])))
        at += len(features[feature])
    out.write(b"".join(features[feature] for feature in sorted(features)))


def main():
    options = arguments()
    f = File(options)
    read(f)
    if options.lost:
        lose(f, options.lost)
    if options.map:
        map_file(f, options.map)
    if options.sched == "wide":
        mark_wide(f)
    turns = rounds(f, options.shuffle)
    if options.zstd:
        data = packed(record(68, 0, b"").join(turns))
    else:
        data = record(68, 0, b"").join(turns)
    (write_pipe if options.pipe else write_file)(f, data, sys.stdout.buffer)


main()
