# SPDX-License-Identifier: GPL-3.0-or-later
"""The numbers of `ispot imbalance`, of its JSON against its HTML and its text.

views_imbalance.py JSON HTML [TEXT]: prints what differs, and last how many cells there were.
"""
import html, json, re, sys

from cells import finish, reads, same, wrong

whole = json.load(open(sys.argv[1]))
page = open(sys.argv[2], encoding="utf-8").read()
screen = open(sys.argv[3], encoding="utf-8").read() if len(sys.argv) > 3 else None


def field(of, key):
    return of[key] if key in of else of[key + "_ns"]


def cells(piece):
    for key, value, shown in re.findall(r'data-key="([^"]*)" data-value="([^"]*)">(.*?)<(?:/td|/span|svg)', piece, re.S):
        yield key, html.unescape(value), html.unescape(shown)


def place(of):
    base = lambda path: path.rsplit("/", 1)[-1]
    return f"{base(of['file'])}:{of['line']}" if of["line"] else f"{base(of['object'])}+{of['address']:#x}"


def section_number(s, key):
    return len(s["threads"]) if key == "threads" else field(s, key)


def check_causes(where, piece, s):
    rows = re.findall(r"<tr>.*?</tr>", re.search(r'<table class="causes">.*?</table>', piece, re.S)[0], re.S)[1:]
    if len(rows) != min(len(s["causes"]), 30):
        wrong.append(f"{where}: {len(rows)} causes in HTML, {len(s['causes'])} in JSON")
    for row, cause in zip(rows, s["causes"]):
        for key, value, shown in cells(row):
            if key == "counts":
                for exact, other in zip(cause["counts"], value.split()):
                    same(where, "a count", exact, other)
                drawn = re.search(r'aria-label="by thread:([^"]*)"', row)[1].split()
                same(where, "counts drawn", value, " ".join(drawn))
            elif key == "place":
                same(where, key, place(cause), value)
                same(where, "place and function", f"{place(cause)} ({cause['function']})", shown)
            else:
                same(where, key, cause[key], value)
                if key == "kind":
                    caller = cause["called_from"]
                    same(where, "caller", f"called from {place(caller)} in " if caller else "", (re.findall("called from .*? in ", shown) or [""])[0])
                if key == "score":
                    reads(where, key, cause[key], shown)


def check_detail(where, piece, s):
    table = re.search(r'<table class="threads">.*?</table>', piece, re.S)[0]
    rows = re.findall(r"<tr>.*?</tr>", table, re.S)[1:]
    for row, thread in zip(rows, s["threads"]):
        for key, value, shown in cells(row):
            exact = field(thread, key)
            same(where, f"thread {thread['number']} {key}", exact, value)
            reads(where, f"thread {thread['number']} {key}", exact, shown)
    if len(rows) != min(len(s["threads"]), 60):
        wrong.append(f"{where}: {len(rows)} threads in HTML, {len(s['threads'])} in JSON")
    for key, value, shown in cells(piece.split("<table", 1)[0]):
        same(where, key, field(s["largest"], key.split("_", 1)[1]), value)
        reads(where, key, field(s["largest"], key.split("_", 1)[1]), shown)
    if s["causes"]:
        check_causes(where, piece, s)
    elif s["answer"]:
        same(where, "answer", True, f"No line is to blame: {s['answer']}." in html.unescape(piece))


def check_page():
    table = re.search(r'<table id="uneven">.*?</table>', page, re.S)
    rows = re.findall(r"<tr>.*?</tr>", table[0], re.S)[1:] if table else []
    pieces = re.findall(r'<details id="section\d+".*?</details>', page, re.S)
    if not len(rows) == len(pieces) == len(whole["sections"]):
        wrong.append(f"{len(rows)} rows and {len(pieces)} details in HTML, {len(whole['sections'])} sections in JSON")
    for row, piece, s in zip(rows, pieces, whole["sections"]):
        for key, value, shown in cells(row):
            same(s["name"], key, section_number(s, key), value)
            reads(s["name"], key, section_number(s, key), shown)
        check_detail(s["name"], piece, s)


def check_text():
    rows = re.findall(r"^ *(\d\S*) +(\d+%) +(\d\S*) +(\d+) +(\d+%)  .*\n(?:        (?:barrier|join|region|named).*\n)?", screen, re.M)
    if len(rows) != min(len(whole["sections"]), 10):
        wrong.append(f"{len(rows)} rows of text, {len(whole['sections'])} sections")
    for row, s in zip(rows, whole["sections"]):
        for key, shown in zip(("lost", "imbalance", "instances", "threads", "worst_share"), row):
            reads("text " + s["name"], key, section_number(s, key), shown)
    found = re.findall(r"^  ([ \d.]{5,})  (\S+) \((.*?)\): ", screen, re.M)
    expected = [c for s in whole["sections"][:10] for c in (s["causes"] or [])[:3]]
    if len(found) != len(expected):
        wrong.append(f"{len(found)} causes in text, {len(expected)} in JSON")
    for (score, where, function), cause in zip(found, expected):
        reads("text " + where, "score", cause["score"], score.strip())
        same("text " + where, "place", place(cause), where)
        same("text " + where, "function", cause["function"], function)


check_page()
if screen is not None:
    check_text()
finish()
