# SPDX-License-Identifier: GPL-3.0-or-later
"""The text of a trace on stdin, with other names of its program, threads and functions on stdout.

TURN says where in NAMES the functions begin, so that each of them is called by several in turn.
A standard library's functions keep their names: what these wait for is known, and nobody else can be called so there.
So do those of Ruby's interpreter, which are known to wait for its lock.
Those of C++'s and Rust's are known by their namespace, which is theirs alone, as they are in the program itself, and
those of OCaml's and Go's runtimes by a prefix, and SQLite's busy handler by its name, also in the program itself.
"""
import json
import re
import sys

# Each says what its time would go to, if names said anything.
NAMES = [
    "pthread_mutex_lock", "nanosleep", "read", "pthread_cond_wait", "fsync", "idle_pop", "pthread_barrier_wait", "poll",
    "sched_yield", "recv", "page_fault", "memcpy", "pthread_spin_lock", "malloc", "pthread_join", "worker_main",
]
STANDARD = re.compile(r"lib(c|stdc\+\+|gomp|omp|tbb|ruby)[.-]")
NAMESPACE = re.compile(r"(std|core|alloc|__gnu_cxx)::|_ZN?K?St|caml_|runtime\.|sqliteDefaultBusyCallback$")
EVENT = re.compile(r'(\S+ \S+ \S+ \S+ )("(?:[^"\\]|\\.)*"|\S+)(.*)', re.S)


def standard_names(meta):
    """The names of functions and frames that are in a standard library."""
    path = {m["id"]: m["path"] for m in meta if m["kind"] == "object"}
    within = [(m, path.get(m.get("object"), "")) for m in meta if m["kind"] == "function"]
    within += [(m, m["object"]) for m in meta if m["kind"] == "frame"]
    standard = [m for m, file in within if STANDARD.match(file.rpartition("/")[2])]
    names = {m.get(key) for m in standard for key in ("name", "symbol")}
    known = [m for m, _ in within if NAMESPACE.match(m.get("symbol") or "")]
    return names | {m.get(key) for m in known for key in ("name", "symbol")}


def renamed(old, turn):
    """{a name: its new one}, of functions and frames alike: what they have in common stays so."""
    at = {name: i + turn for i, name in enumerate(old)}
    return {name: NAMES[i % len(NAMES)] + (f"_{i // len(NAMES)}" if i >= len(NAMES) else "") for name, i in at.items()}


def main():
    lines = sys.stdin.readlines()
    meta = [json.loads(line) for line in lines if line.startswith("{")]
    old = [m["name"] for m in meta if m["kind"] == "function"]
    old += [m["symbol"] for m in meta if m["kind"] in ("function", "frame") and m["symbol"]]
    standard = standard_names(meta)
    new = renamed([name for name in dict.fromkeys(old) if name not in standard], int(sys.argv[1]))
    new.update({name: name for name in standard})
    program = next((m.get("program") for m in meta if m["kind"] == "session"), None)
    ids = {m["name"]: f"@{m['id']}" for m in meta if m["kind"] == "function"}
    for line in lines:
        event = EVENT.match(line)
        if line.startswith("{"):
            m = json.loads(line)
            for key in ("path", "object"):  # the program's own file
                if program and str(m.get(key)).endswith("/" + program):
                    m[key] = "/usr/bin/sleep"
            if m["kind"] in ("function", "frame"):
                m.update({k: new[m[k]] for k in ("name", "symbol") if m.get(k)})
            elif m["kind"] == "session":
                m.update(command="/usr/bin/sleep 9", program="sleep")
            elif m["kind"] == "process":
                m["comm"] = "kswapd0"
            print(json.dumps(m))
        elif event and event[1].endswith(" comm "):
            print(event[1] + "jbd2\n", end="")
        elif event and event[2].strip('"') in ids:
            print(event[1] + ids[event[2].strip('"')] + event[3], end="")
        else:
            print(line, end="")


main()
