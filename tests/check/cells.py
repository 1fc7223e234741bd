# SPDX-License-Identifier: GPL-3.0-or-later
"""Cells of two views of the same data, compared: a view's numbers are held against those of JSON."""
import math, re

UNITS = {"%": 0.01, "ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "h": 3600e9, "": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
VERDICTS = {"interference": "interference", "workload": "more work", "noise": "below noise", "idle": "idle",
            "too-few-calls": "too few calls", "cannot-tell": "not measurable"}
compared = 0
wrong = []


def verdict(where, block, line):
    """A line of a screen that begins with the block's verdict, in words."""
    words = VERDICTS[block["verdict"]]
    same(where, "verdict", words, words if re.match(re.escape(words) + r"(?!\S)", line.strip()) else line)


def same(where, key, exact, other):
    """Two exact values, of JSON and of another view; CSV leaves empty what is not measured."""
    global compared
    compared += 1
    if exact is None or other in ("", None):
        ok = exact in (None, "") and other in ("", None)
    elif isinstance(exact, str):
        ok = exact == other
    else:
        ok = math.isclose(float(exact), float(other), rel_tol=1e-8, abs_tol=1e-12)
    if not ok:
        wrong.append(f"{where}: {key} is {exact!r}, and there {other!r}")


def near(where, key, exact, other, by):
    """What was drawn, as far as its pixels tell."""
    global compared
    compared += 1
    if not abs(exact - other) <= by:
        wrong.append(f"{where}: {key} is {exact}, and is drawn as {other}")


def reads(where, key, exact, shown):
    """A value, and what a person reads of it: right to the last digit that is there."""
    global compared
    compared += 1
    m = re.fullmatch(r"([-+]?\d+(?:\.(\d+))?) ?(ns|us|ms|s|h|k|M|G|T|%|)", shown)
    if exact is None or not m:
        ok = exact is None and shown == "n/a"
    else:
        unit = UNITS[m[3]]
        # .0 is cut off behind a unit that has tenths
        digits = len(m[2] or "")
        if m[3] == "s" or (m[3] in ("us", "ms", "h", "k", "M", "G", "T") and len(m[1]) == 1):
            digits = 1
        ok = abs(float(m[1]) * unit - exact) <= unit * 0.5001 * 10 ** -digits + 1e-12
    if not ok:
        wrong.append(f"{where}: {key} is {exact!r}, and reads {shown}")


def fits(exact, shown):
    before = len(wrong)
    reads("", "", exact, shown)
    ok = len(wrong) == before
    del wrong[before:]
    return ok


def finish():
    for line in wrong:
        print(line)
    print(compared, "cells compared")
