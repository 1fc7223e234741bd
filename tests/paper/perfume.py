# SPDX-License-Identifier: GPL-3.0-or-later
"""
Section 5.8: the paper gave Perfume a trace of LevelDB, which drew the graph of its events (figure 10). Here ispot draws
that graph itself, of as many events and of the first 10,000 of one thread, which was all that Perfume could read.
"""
import collections
import json
import os
import time

from applications import MEMORY, LevelDB, in_directory
from record import ISPOT, WORK, Recording, run

SLICE = 10000
# of the paper: events of the whole trace, and seconds that Perfume took for the slice, its tool for the whole
EVENTS, PERFUME_S, PAPER_S = 1.9e6, 5536, 21.2
LIBRARY = "/usr/lib/%s-linux-gnu/libleveldb.so.1d" % os.uname().machine
WRITES = 30000


def timed(*arguments):
    """Seconds of an ispot command, and what it printed."""
    begin = time.monotonic()
    text = run([ISPOT, *arguments])
    return time.monotonic() - begin, text


def first_events(lines, most):
    """Of a dump: its description, and the first so many entries and exits of the thread that has most of them."""
    meta, events = [], collections.defaultdict(list)
    for line in lines:
        if line.startswith("{"):
            meta.append(line)
        elif not line.startswith("#") and line.split(" ", 4)[3] in ("entry", "exit"):
            events[line.split(" ", 3)[2]].append(line)
    longest = max(events.values(), key=len, default=[])
    return meta + longest[:most]


def steps(text):
    return json.loads(text)["transitions"]


def measure(writes, say):
    """None where LevelDB's binding for Python is not installed."""
    program = LevelDB(MEMORY, writes)
    if not program.installed() or not os.path.exists(LIBRARY):
        return None
    say("perfume: LevelDB")
    recording = in_directory(program, lambda command, target, directory: Recording(
        [LIBRARY + ":leveldb::*"], command, target, "perfume", cwd=directory))
    report_s, _ = timed("report", "--json", "-i", recording.file)
    graph_s, graph = timed("report", "--by", "transition", "--json", "-i", recording.file)
    cut, dump = os.path.join(WORK, "perfume-slice"), run([ISPOT, "dump", "-i", recording.file])
    with open(cut + ".txt", "w", encoding="utf-8") as file:
        file.write("\n".join(first_events(dump.splitlines(), SLICE)) + "\n")
    run([ISPOT, "dump", "--from-text", cut + ".txt", "-o", cut + ".data"])
    slice_s, of_slice = timed("report", "--by", "transition", "--json", "-i", cut + ".data")
    worst = max((b for b in recording.report["blocks"] if b["sci"] is not None and b["verdict"] == "interference"),
                key=lambda b: b["sci"], default=None)
    return {"events": recording.report["trace"]["records"], "report_s": report_s, "graph_s": graph_s,
            "slice_s": slice_s, "graph": steps(graph), "slice": steps(of_slice),
            "worst": worst and (worst["name"], worst["sci"])}
