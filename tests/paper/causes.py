# SPDX-License-Identifier: GPL-3.0-or-later
"""
More causes than the paper's four: every microbenchmark prints what it knows about itself, by its
own clock; score, cause and verdict of the report beside it.
"""
import os

from record import MICROBENCH, Recording

# program, functions to trace
PROGRAMS = [
    ("mutex", "locked_add"), ("spinlock", "spin_acquire"), ("false_sharing", "bump_counter"),
    ("io_direct", "read_block"), ("fsync", "append_record"), ("condvar", "take_item"),
    ("barrier", "join_barrier"), ("pagefault", "touch_pages"), ("pipe", "read_message"),
    ("socket", "read_reply"), ("sleep", "back_off"), ("oversubscription", "crunch"),
    ("memory_bandwidth", "stream_block"), ("numa", "walk_buffer"), ("siblings", "fill_units"),
    ("growing_list", "scan_list"),
    ("sized_work", "process_sized"), ("word_count", "wordcount_reduce"),
]

# What only hardware counters can tell apart: without them "unknown" is the right answer.
COUNTED = ("cache-sharing", "memory-bandwidth", "numa", "frequency-smt")


def truths(output):
    """The lines `expect block=NAME calls=N sci=0.42+-0.04 cause=lock`, as dictionaries."""
    for line in output.splitlines():
        words = line.split()
        if words[:1] == ["expect"]:
            yield dict(w.split("=", 1) for w in words[1:] if "=" in w)


def compare(program, truth, recording):
    block = recording.block(truth["block"]) or {}
    causes = block.get("causes") or [{}]
    row = {"program": program, "block": truth["block"], "sci": block.get("sci"),
           "cause": causes[0].get("kind"), "verdict": block.get("verdict"),
           "true_sci": None, "true_cause": truth.get("cause") or truth.get("verdict")}
    row["cause_right"] = row["true_cause"] in (row["cause"], row["verdict"])
    if row["true_cause"] in COUNTED and recording.report["trace"]["pmu"] == "none":
        row["cause_right"] = row["cause"] == "unknown"
    row["sci_right"] = None
    if "sci" in truth:
        row["true_sci"], within = (float(x) for x in truth["sci"].split("+-"))
        row["sci_right"] = row["sci"] is not None and abs(row["sci"] - row["true_sci"]) <= within
    return row


def absent(program, recording):
    """What cannot be measured here has no truth, and says why."""
    if any(truths(recording.output)):
        return []
    return [{"program": program, "why": recording.output.strip()}]


def measure(kinds, say):
    """The first so many of the programs."""
    rows = []
    for program, function in PROGRAMS[:kinds]:
        say("causes: " + program)
        recording = Recording([function], [os.path.join(MICROBENCH, program)])
        rows += absent(program, recording) or [compare(program, truth, recording) for truth in truths(recording.output)
                 if truth["block"] == function]
    return rows
