# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps of `report --by transition`, counted again from the entries and exits of the dump.

steps.py ISPOT FILE: prints what differs, and last how many kinds of steps there were. For recordings of which nothing
was lost and whose calls all end.
"""
import collections, json, subprocess, sys

ISPOT, FILE = sys.argv[1:]


def run(*arguments):
    return subprocess.run([ISPOT, *arguments, "-i", FILE], check=True, capture_output=True, text=True).stdout


def event(line):
    """Thread, kind and function of a line of the dump; None: it is no entry or exit."""
    words = line.split(" ", 4)
    if line[:1] in "{#" or words[3] not in ("entry", "exit"):
        return None
    return words[2], words[3], words[4].rsplit(" sp=", 1)[0].strip('"')


counted, threads = collections.Counter(), {}
for thread, kind, function in filter(None, map(event, run("dump").splitlines())):
    # the open calls, and what was last in each of them and outside of all
    calls, last = threads.setdefault(thread, ([], [None]))
    if kind == "entry":
        before = last[-1]
        counted[(before, function, "next") if before else (calls[-1], function, "call") if calls
                else (None, function, "begin")] += 1
        calls.append(function)
        last.append(None)
    else:
        if calls.pop() != function:
            sys.exit("not nested: " + function)
        inside = last.pop()
        if inside:
            counted[inside, function, "return"] += 1
        last[-1] = function
for calls, last in threads.values():
    if not calls and last[-1]:
        counted[last[-1], None, "end"] += 1

reported = {(t["from"], t["to"], t["kind"]): t["count"] for t in
            json.loads(run("report", "--by", "transition", "--json"))["transitions"]["all"]}
for step in sorted(set(counted) | set(reported), key=str):
    if counted[step] != reported.get(step, 0):
        print(step, "counted", counted[step], "reported", reported.get(step, 0))
print(len(counted), "cells compared")
