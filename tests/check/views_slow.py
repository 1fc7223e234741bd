# SPDX-License-Identifier: GPL-3.0-or-later
"""Every number of `report --slow` as a person reads it, held against its JSON.

views_slow.py ISPOT FILE --slow FUNC [report's options...]: as views.py.
"""
import json, re, subprocess

from cells import finish, reads, same, verdict, wrong
from views import FILE, ISPOT, NAMES, OPTIONS, report

TIME = r"(\d+(?:\.\d+)?(?:ns|us|ms|s|h))"
COUNT = r"(\d+(?:\.\d+)?[kMGT]?)"
SHARE = r"(\d+%)"
HEADS = {"LATENCY    CALLS": "durations", "Why slow calls are slow": "causes",
         "  CALLS    MEAN RUNNING   QUEUE BLOCKED CALLEES NEW CPU": "groups",
         "  CALLS    MEAN     MIN     MAX  EXCESS THREAD": "threads",
         "  CALLS    MEAN     MIN     MAX  EXCESS CALLER": "callers",
         "  CALLS    MEAN    SLOW CALL STACK": "stacks",
         "       AT s    TOOK   QUEUE BLOCKED     TID SLOWEST CALLS, CALLER": "slowest",
         "   SLOW ATLEAST    FAST SAMPLES LINE WITH MORE CPU TIME IN SLOW CALLS": "lines",
         "   SLOW ATLEAST    FAST SAMPLES FUNCTION WITH MORE, CALLEES INCLUDED": "callees"}


def sections(lines):
    found, name = {"": []}, ""
    for line in lines:
        head = HEADS.get(line.partition(" (shares of ")[0])
        name = head or (name if line else None)
        if line and not head and name is not None:
            found.setdefault(name, []).append(line)
    return found


def rows(lines, *patterns):
    row = re.compile(r"\s*" + r"\s+".join(patterns) + r"(?: (.*))?$")
    return [m.groups() for m in map(row.match, lines) if m]


def share(part, whole):
    return part / whole if whole > 0 else 0


def mean(part):
    return part["total_ns"] // part["calls"]


def check_summary(lines, block, trace):
    calls = re.search(r"(?:^|  )(\S+) calls  min ", lines[1])  # where the first line has no room
    m = re.match((r".*  ()" if calls else r".*  (\S+) calls  ") + r"(.+?)(?: costs (\S+) of thread time \((\S+)\))?$", lines[0])
    reads("summary", "calls", block["calls"], (calls or m)[1])
    verdict("summary", block, m[2])
    same("summary", "lost", block["verdict"] == "interference" and block["lost_threads"] > 0, bool(m[3]))
    if m[3]:
        reads("summary", "lost_share", block["lost_threads"] * trace["probed_ns"] / trace["threads_ns"], m[3])
        reads("summary", "lost_ns", block["lost_threads"] * trace["probed_ns"], m[4])
    m = re.match(r"slowdown score \(SCI, 0 to 1\): (\S+), noise floor (\S+)$", lines[2])
    for key, shown in zip(("sci", "floor"), m.groups()):
        reads("summary", key, block[key], shown)
    for key, shown in re.findall(r"(min|p50|p90|p99|max) (\S+)", lines[1]):
        reads("summary", key, block[key + "_ns"], shown)


def check_durations(found, whole):
    shown = [r for r in rows(found, TIME, COUNT) if r[1] != "0"]
    same("durations", "rows", len(whole), len(shown))
    for row, (since, calls, _) in zip(whole, shown):
        reads("durations", "from_ns", row["from_ns"], since)
        reads("durations", "calls", row["calls"], calls)


def check_causes(found, causes):
    shown = [m.groups() for m in (re.match(r"\s{0,6}(\d+%) (\S.*?)(\??)$", l) for l in found) if m]
    same("causes", "rows", len(causes), len(shown))
    for cause, (part, kind, doubt) in zip(causes, shown):
        same("causes", "kind", True, kind in [cause["kind"], *NAMES.get(cause["kind"], [])])
        reads("causes", kind, cause["share"], part)
        same("causes", "doubt", cause["confidence"] < 0.7, bool(doubt))
    said = " ".join(l.strip() for l in found if l.startswith(" " * 10))
    same("causes", "evidence", " ".join(" ".join(e for c in causes for e in c["evidence"]).split()), said)


def check_groups(found, whole):
    names = {"fast (up to p50)": "fast", "middle": "between", "slow (from p90)": "slow"}
    shown = rows(found, COUNT, TIME, *[SHARE] * 5)
    same("groups", "rows", sum(whole[g]["calls"] > 0 for g in names.values()), len(shown))
    for calls, took, *shares, name in shown:
        g = whole[names[name]]
        blocked = g["blocked_ns"] + g["idle_ns"]
        running = max(0, g["total_ns"] - g["preempted_ns"] - blocked - g["callees_ns"])
        reads(name, "calls", g["calls"], calls)
        reads(name, "mean", mean(g), took)
        for key, part, read in zip(("running", "preempt", "blocked", "callees"),
                                   (running, g["preempted_ns"], blocked, g["callees_ns"]), shares):
            reads(name, key, share(part, g["total_ns"]), read)
        reads(name, "migrate", share(g["migrated"], g["calls"]), shares[4])


def check_parts(kind, found, parts, name_of):
    shown = rows(found, COUNT, TIME, TIME, TIME, SHARE)
    whole = {name_of(p): p for p in parts}
    excess = sum(p["excess_ns"] for p in parts)
    same(kind, "rows", len(parts), len(shown))
    for calls, took, least, most, part, name in shown:
        p = whole.get(name)
        if not p:
            wrong.append(f"{kind}: JSON has no {name}")
            continue
        for key, exact, read in (("calls", p["calls"], calls), ("mean", mean(p), took), ("min", p["min_ns"], least),
                                 ("max", p["max_ns"], most), ("excess", share(p["excess_ns"], excess), part)):
            reads(f"{kind} {name}", key, exact, read)


def check_stacks(found, stacks):
    shown = rows(found, COUNT, r"(\d\S*|n/a)", SHARE)
    slow = sum(s["slow"] for s in stacks)
    if len(shown) < len(stacks):
        wrong.append(f"{len(shown)} stacks, {len(stacks)} in JSON")
    for s, (calls, took, part, _) in zip(stacks, shown):
        reads("stacks", "count", s["count"], calls)
        if s["taken"] == s["count"] or len(stacks) == 1:  # else parts of calls, rounded in JSON
            reads("stacks", "mean", s["total_ns"] and s["total_ns"] / s["count"], took)
            reads("stacks", "slow", share(s["slow"], slow), part)


def check_slowest(found, calls):
    shown = rows(found, r"(\d+\.\d{6})", TIME, TIME, TIME, r"(\d+)")
    same("slowest", "rows", len(calls), len(shown))
    for call, (at, took, preempted, blocked, tid, caller) in zip(calls, shown):
        reads("slowest", "at", call["at_ns"] / 1e9, at)
        for key, read in (("duration_ns", took), ("preempted_ns", preempted), ("blocked_ns", blocked), ("tid", tid)):
            reads("slowest", key, call[key], read)
        same("slowest", "caller", call["caller"] or "-", caller)


def check_places(kind, found, places):
    shown = rows(found, TIME, TIME, TIME, r"(\d+)")
    same(kind, "rows", len(places), len(shown))
    for place, read in zip(places, shown):
        for key, value in zip(("slow_ns", "slow_low_ns", "fast_high_ns", "slow_samples"), read):
            reads(kind, key, place[key], value)


def check_sums(whole):
    """The parts of JSON add up to the block, but for what record --keep-slower left out."""
    block, lasted = whole["block"], sum(p["calls"] for p in whole["durations"])
    groups = [whole[g] for g in ("fast", "between", "slow")]
    if lasted > block["timed_calls"]:  # recursion: those inside others are no calls of their own here
        wrong.append(f"{lasted} durations of {block['timed_calls']} calls")
    for kind, parts in (("groups", groups), ("threads", whole["threads"]), ("callers", whole["callers"])):
        same(kind, "calls", lasted - whole["unwritten"], sum(p["calls"] for p in parts))
        if not whole["unwritten"]:
            same(kind, "total_ns", block["total_ns"], sum(p["total_ns"] for p in parts))


whole = json.loads(report("--json"))
at = OPTIONS.index("--slow")
trace = json.loads(subprocess.run([ISPOT, "report", "-i", FILE, "--json", *OPTIONS[:at], *OPTIONS[at + 2:]],
                                  capture_output=True, text=True).stdout)["trace"]
found = sections(report("-v").splitlines())
check_summary(found[""], whole["block"], trace)
check_durations(found.get("durations", []), whole["durations"])
check_causes(found.get("causes", []), whole["block"]["causes"])
check_groups(found.get("groups", []), whole)
check_parts("threads", found.get("threads", []), whole["threads"], lambda p: f"{p['tid']} {p['comm']}")
check_parts("callers", found.get("callers", []), whole["callers"], lambda p: p["function"] or "(no traced caller)")
check_stacks(found.get("stacks", []), whole["stacks"])
check_slowest(found.get("slowest", []), whole["slowest"])
for kind in ("lines", "callees"):
    check_places(kind, found.get(kind, []), whole[kind])
check_sums(whole)
finish()
