# SPDX-License-Identifier: GPL-3.0-or-later
"""Every number that two views of a report show, compared cell by cell.

views.py ISPOT FILE [report's options...]: prints what differs, and last how many cells there were.
JSON is what the others are held against: CSV has the same numbers, HTML the same as data-value and
what it shows of them, text what a person reads of them ("24k" stands for 23,950 to 24,050).
"""
import csv, html, io, itertools, json, re, subprocess, sys

from cells import finish, fits, near, reads, same, verdict, wrong

ISPOT, FILE, *OPTIONS = sys.argv[1:]
BY = OPTIONS[OPTIONS.index("--by") + 1] if "--by" in OPTIONS else "function"
SCREEN = {"thread": "lost_share lost_time sci calls observed_ns tid pid",
          "lock": "lost_share lost_time calls contended p50_ns p99_ns hold_p50_ns hold_p99_ns floor"}
SCREEN = SCREEN.get(BY, "lost_share lost_time sci calls min_ns p50_ns p99_ns floor").split()


def names():
    """What screens call the kinds of causes, some by several names: the rows in kind.c."""
    source = open("analysis/cause/kind.c", encoding="utf-8").read()
    names = {}
    for kind, name in re.findall(r'\.kind = "([^"]*)",\s*\.name = "([^"]*)"', source):
        names.setdefault(kind, []).append(name)
    return names


NAMES = names()


def report(*options):
    p = subprocess.run([ISPOT, "report", "-i", FILE, *OPTIONS, *options], capture_output=True, text=True)
    if p.returncode:
        sys.exit(f"report {options}: {p.stderr}")
    return p.stdout


def lost_of(trace, block, key):
    """What the screen shows of lost_threads: its part of thread time, and the time."""
    if block["lost_threads"] is None or not trace["threads_ns"]:
        return None
    ns = block["lost_threads"] * trace["probed_ns"]
    return ns / trace["threads_ns"] if key == "lost_share" else ns


def reads_lost(where, trace, block, key, shown):
    exact = lost_of(trace, block, key)
    if BY != "thread" and block["verdict"] != "interference" and exact is not None:
        if shown not in ("–", "-"):  # the part with a cause of a block that has unexplained time
            same(where, "unexplained time", True, bool(block["unexplained_threads"]))
            reads(where, key, exact, shown)
    elif shown in ("–", "-"):
        same(where, key, True, exact is not None and exact < (0.0005 if key == "lost_share" else 1))
    else:
        reads(where, key, exact, shown)


def number_of(block, key):
    for part in (block, block.get("lock") or {}, block["probe"]):
        if key in part:
            return part[key]
    if key == "pair_ns":
        return None
    first = block["causes"][0] if block["causes"] else {}
    return {"cause": first.get("kind"), "cause_share": first.get("share")}.get(key)


def check_csv(whole):
    rows = list(csv.DictReader(io.StringIO(report("--csv"))))
    if len(rows) != len(whole["blocks"]):
        wrong.append(f"{len(rows)} rows of CSV, {len(whole['blocks'])} blocks of JSON")
    for row, block in zip(rows, whole["blocks"]):
        counters = {}
        for name, c in block["counters"].items():
            counters |= {name: c["mean"], name + "_fast": c["mean_fast"], name + "_slow": c["mean_slow"]}
        for key, value in row.items():
            exact = counters[key] if key in counters else number_of(block, key.removeprefix("probe_"))
            same("CSV " + row["name"], key, exact, value)


def cells(piece):
    for tag, shown in re.findall(r'<(?:td|span)([^>]*data-key[^>]*)>(.*?)</(?:td|span)>', piece):
        key, value = re.search(r'data-key="(.*?)"', tag)[1], re.search(r'data-value="(.*?)"', tag)[1]
        yield key, html.unescape(value), html.unescape(shown)


def check_cells(where, piece, block, trace):
    for key, value, shown in cells(piece):
        exact = number_of(block, key)
        if isinstance(exact, str) and len(exact) > 150:
            continue  # shortened there
        same(where, key, exact, value)
        if key == "lost_threads" and shown == "–":
            same(where, "lost time", True, block["verdict"] != "interference" or not exact > 0)
        elif key == "lost_threads" and shown.endswith("%"):
            reads(where, key, exact * trace["probed_ns"] / trace["threads_ns"], shown)
        elif exact is None or not isinstance(exact, str):
            reads(where, key, exact, shown)


def check_html_causes(where, piece, block):
    rows = re.findall(r'data-cause="(.*?)" data-share="(.*?)" data-confidence="(.*?)"><td>(.*?)</td><td>(.*?)</td>', piece)
    same(where, "causes", len(block["causes"]), len(rows))
    for cause, (kind, share, confidence, read_share, read_confidence) in zip(block["causes"], rows):
        same(where, "cause", cause["kind"], kind)
        same(where, kind, cause["share"], share)
        same(where, kind, cause["confidence"], confidence)
        reads(where, kind, cause["share"], read_share)
        reads(where, kind, cause["confidence"], read_confidence)


def parts(trace):
    """Of the threads' time, as shares."""
    whole = trace["threads_ns"] or 1
    if trace["working_ns"] is None:
        return {"lost": (trace["lost_ns"] or 0) / whole}
    queue = trace["runnable_ns"] or 0
    all_parts = {"lost": trace["lost_ns"] / whole, "work": (trace["working_ns"] - queue) / whole,
                 "queue": queue / whole, "wait": trace["idle_ns"] / whole}
    if trace["unexplained_ns"]:
        all_parts["unexplained"] = trace["unexplained_ns"] / whole
    return all_parts


def owns(block):
    """Whether the row's cause is that of the lost time which it owns: of sequences, whose excess is also of the time
    between their calls."""
    return BY == "sequence" and block["lost_threads"] > 0 and "{" not in block["name"]


def check_html(whole):
    page = report("--html", "-")
    table = re.search(r'<table id="ranked">.*?</table>', page, re.S)[0]
    rows = re.findall(r"<tr class.*?</tr>", table, re.S)
    same("HTML", "rows", min(len(whole["blocks"]), 200), len(rows))
    for row, block in zip(rows, whole["blocks"]):
        check_cells("HTML " + block["name"], row, block, whole["trace"])
        why = html.unescape(re.search(r'<td class="why">(.*?)</td>', row)[1])
        check_why("HTML " + block["name"], block, why, own=whole["trace"] if owns(block) else None)
    details = re.findall(r'<details id="block\d+".*?</details>', page, re.S)
    if whole["blocks"] and not details:
        wrong.append("HTML has no block in detail")
    for piece, block in zip(details, whole["blocks"]):
        check_cells("HTML detail of " + block["name"], piece, block, whole["trace"])
        check_html_causes("HTML detail of " + block["name"], piece, block)
    facts = {k: (v, shown) for k, v, shown in cells(re.sub(r"<details.*?</details>|<table id.*?</table>", "", page, flags=re.S))}
    for key, exact in parts(whole["trace"]).items():
        if "lost" in facts:
            same("HTML", key, exact, facts[key][0])
            reads("HTML", key, exact, facts[key][1])
    cost = whole["self_cost"]
    if cost["overhead"] is not None and not {"overhead", "overhead_cpus"} & set(facts):
        wrong.append("HTML does not say what the probes cost")
    for key, exact in (("coverage", whole["trace"]["coverage"]), *((k, cost[k]) for k in ("overhead", "overhead_cpus") if k in facts)):
        if exact is not None:
            same("HTML", key, exact, facts[key][0])
            reads("HTML", key, exact, facts[key][1])
    title = html.unescape(re.search(r"<title>ispot: (.*?)</title>", page)[1])
    check_head("HTML", whole, title)


def check_why(where, block, why, own=None):
    """What stands under why is one of the causes, with its share; own: the trace, if that is a share of what the row
    loses itself, which is at most all of the cause's time."""
    m = re.fullmatch(r"(\S.*) (\d+ ?%)(\??)", why)
    if not m:
        return
    for cause in block["causes"]:
        if m[1] in [cause["kind"], *NAMES.get(cause["kind"], [])]:
            if cause["kind"] == "callee" and own and block["lost_threads"] > 0.005:
                wrong.append(f"{where}: {why} is not what it loses itself")
            elif own and cause["kind"] != "callee":
                lost = block["lost_threads"] * own["probed_ns"]
                if float(m[2][:-1]) / 100 > min(1, cause["share"] * block["excess_ns"] / lost) + 0.0051:
                    wrong.append(f"{where}: {why} is more than all of that cause")
            elif cause["kind"] != "callee":
                reads(where, "why " + why, cause["share"], m[2])
            same(where, "doubt", cause["confidence"] < 0.7, bool(m[3]))
            return
    if m[1] == "unexplained":
        if block["verdict"] != "cannot-tell" or not block["unexplained_threads"]:
            wrong.append(f"{where}: {why}, but the verdict is {block['verdict']}")
        return
    if m[1] not in ("blocked", "idle", "running"):
        wrong.append(f"{where}: no cause is {why}")


def check_head(where, whole, line):
    trace = whole["trace"]
    shown = re.search(r"(?:  |· |, )([\d.]+) ?(s|ms|us|ns)(?: ·|,|$)", line)
    reads(where, "duration", trace["duration_ns"], shown[1] + shown[2])
    for word, key in (("CPU", "cpus"), ("thread", "threads"), ("call", "calls")):
        m = re.search(rf"(?:· |, )([\d.]+[kMGT]?) {word}s?\b", line)
        if m:
            reads(where, key, trace[key], m[1])
    m = re.search(r"([\d.]+[kMGT]?) dropped events?|lost records (\S+)", line)
    reads(where, "lost records", trace["lost_records"], (m[1] or m[2]) if m else "0")
    m = re.search(r"overhead (?:~|over )([\d.]+%)( of a CPU)?", line)
    if m:
        key = "overhead_cpus" if m[2] else "overhead"
        reads(where, key, whole["self_cost"][key], m[1])


def screen(whole):
    """The columns of numbers with -v: where calls were sampled, the score's interval instead of the least and the floor."""
    sampled = any(b["estimated_calls"] is not None for b in whole["blocks"])
    if not sampled or BY == "thread":
        return SCREEN
    return [key for key in SCREEN if key not in ("min_ns", "floor")] + ["sci_low", "sci_high"]


def check_text(whole):
    columns = screen(whole)
    lines = report("-v", "--top", "1000000").splitlines()
    check_head("text", whole, " ".join(itertools.takewhile(lambda l: not l.startswith("thread time"), lines)))
    time = " ".join(" ".join(lines[1:4]).split())
    words = {"lost": "lost", "work": "running", "queue": "run queue", "wait": "idle", "unexplained": "unexplained"}
    trace = whole["trace"]
    for key, exact in parts(trace).items():
        m = re.search(rf"(?:: |, )([\d.]+%) {words[key]}\b", time)
        if m and re.fullmatch(r"\d+%", m[1]):  # rounded so that all parts add up to 100%
            near("text", key, 100 * exact, float(m[1][:-1]), by=1.001)
        elif m:
            reads("text", key, exact, m[1])
    shown = re.findall(r"(?:: |, )([\d.]+)% ", time.partition("thread time")[2])
    if len(shown) > 1 and abs(sum(map(float, shown)) - 100) > 0.999:
        wrong.append(f"text: {time} does not add up to 100%")
    m = re.search(r"cover ([\d.]+%)", "\n".join(lines))
    if m:
        reads("text", "coverage", whole["trace"]["coverage"], m[1])
    head = next((i for i, l in enumerate(lines) if l.split()[:2] == ["LOST", "TIME"]), None)
    if head is None:
        if whole["blocks"]:
            wrong.append("text has no table")
        return
    cell = r"\s*(n/a|–|-(?!\d)|-?\d+(?:\.\d+)?(?:ns|us|ms|s|h|k|M|G|T|%)?)"
    row = re.compile(cell * len(columns) + r"(?:\s|$)")
    found = []
    for line in lines[head + 1:]:
        if not line or line.startswith("["):
            break
        if row.match(line):
            found.append(line)
    same("text", "rows", len(whole["blocks"]), len(found))
    for line, block in zip(found, whole["blocks"]):
        for key, shown in zip(columns, row.match(line).groups()):
            if key.startswith("lost_"):
                reads_lost(f"text {block['name']}", trace, block, key, shown)
            else:
                reads(f"text {block['name']}", key, number_of(block, key), shown)
        if BY != "thread":
            verdict(f"text {block['name']}", block, line[row.match(line).end():])


def check_few():
    """The first screen: fewer rows and columns of the same numbers."""
    everything = json.loads(report("--json"))
    whole, trace = everything["blocks"], everything["trace"]
    lines = report().splitlines()
    head = next((i for i, l in enumerate(lines) if l.split()[:2] == ["LOST", "TIME"]), None)
    if head is None or BY in ("thread", "lock"):
        return
    for line in lines[head + 1:]:
        m = re.match(r"\s*(\S+)\s+(\S+)\s+(\S+)\s+(\S+)\s+(\S+) (.{6})  (\S.*? \d+%\??|\S+)(?:\s|$)", line)
        if not line:
            break
        if not m:
            continue
        near = [b for b in whole if all(fits(number_of(b, k), m[i + 3]) for i, k in enumerate(("calls", "p50_ns", "p99_ns")))
                and (m[1] in "–-" or fits(lost_of(trace, b, "lost_share"), m[1]))]
        if not near:
            wrong.append(f"first screen: no block of JSON has {line}")
        elif len(near) == 1:
            check_why("first screen " + near[0]["name"], near[0], m[7], own=trace)


def check_outside(trace, head):
    """What is outside of all blocks is a part of what the header says it is."""
    m = re.search(r"([\d.]+)% of thread time (waits for a CPU|runs) outside", head)
    if m:
        part = trace["runnable_ns"] if m[2] != "runs" else trace["working_ns"] - trace["runnable_ns"]
        if float(m[1]) > 100 * part / trace["threads_ns"] + 0.5:
            wrong.append(f"{m[0]}, all together {100 * part / trace['threads_ns']:.0f}%")


def most_gained(trace, block):
    """What threads that wait less can gain: CPUs that none of the program's threads had or waited for, for the part of
    their other time in which they want one, and those that the block runs on for nothing."""
    if not trace["cpus"] or trace["busy_cpus"] is None or not block["excess_split"]:
        return float("inf")
    unexplained = sum(c["share"] for c in block["causes"] if c["kind"] == "unknown")
    running = max(0, block["excess_split"]["running_ns"] - unexplained * block["excess_ns"]) / trace["probed_ns"]
    ready = (trace["ready_ns"] or 0) / trace["probed_ns"]
    rest = min(block["free_ns"] or 0, block["observed_ns"] - block["lost_threads"] * trace["probed_ns"])
    asked = block["asked_ns"] / rest if block["asked_ns"] and rest > block["asked_ns"] else 1
    return max(0, trace["cpus"] - trace["busy_cpus"] - ready) / asked + running


def tells_of(trace, block, sentence, why):
    """Whether the sentence is on this row: the part of its time that the named cause costs, and all of it."""
    share, part, whole = sentence
    lost_ns, lost = lost_of(trace, block, "lost_time"), lost_of(trace, block, "lost_share")
    if not fits(lost_ns, whole or part):
        return False
    if not whole:
        return fits(lost, share)
    if not why:
        return float(share[:-1]) / 100 <= lost + 0.0006
    exact = float(why[1]) / 100
    return any(fits(lost * (exact + off), share) for off in (-0.005, -0.0025, 0, 0.0025, 0.005))


def check_story(whole):
    """Header, paragraph and table tell of the same rows, and no row loses more than all of it."""
    trace, text = whole["trace"], report()
    rows = [b for b in whole["blocks"]
            if b["verdict"] == "interference" and b["sci"] >= 0.01 and b["lost_threads"] > 0]
    worth = [b["lost_threads"] for b in rows]
    for lost in worth if BY != "sequence" else []:  # those hold what is between their calls
        if lost * trace["probed_ns"] > trace["lost_ns"] + 2:
            wrong.append(f"a row loses {lost} threads, all together {trace['lost_ns'] / trace['probed_ns']}")
    head, table, _ = (text + "\n").partition("\n LOST")
    flat = " ".join(head.split())
    m = re.search(r"costs? ([\d.]+%|<0.1%) of thread time \((\S+?)(?: of the (\S+) (?:in its row|lost))?\)", flat)
    if m and m[1] != "<0.1%":
        if BY == "thread" and m[3]:
            reads("paragraph", "lost", trace["lost_ns"], m[3])
        why = re.search(r"Why ([\d.]+)% of its lost time is ([a-zA-Z/ -]+?)(?:;| Holder| Woken| Meanwhile| Try|$)", flat)
        if BY != "thread" and not any(tells_of(trace, b, m.groups(), why) for b in rows):
            wrong.append(f"paragraph: no row loses what it says: {m[0]}, {why and why[0]}")
    gain = re.search(r"recovers at most ([\d.]+%)", flat)
    if m and gain and BY != "thread":
        most = max(most_gained(trace, b) for b in rows) * trace["probed_ns"] / trace["threads_ns"]
        if float(gain[1][:-1]) / 100 > most + 0.006:
            wrong.append(f"paragraph: {gain[0]}, but its CPUs allow {most}")
    check_outside(trace, " ".join(head.split()))
    varies = re.search(r"run for ([\d.]+)% of thread time longer", flat)
    if varies and not any(fits(100 * b["unexplained_threads"] * trace["probed_ns"] / trace["threads_ns"], varies[1])
                          for b in whole["blocks"] if b["unexplained_threads"]):
        wrong.append(f"paragraph: no row has {varies[1]}% of thread time unexplained")
    told = m or varies or "too few to judge" in flat
    if BY == "function" and bool(told) != bool(table) and "-s" not in OPTIONS:
        wrong.append(f"a table without a paragraph on it, or the reverse: {head}")
    if BY not in ("function", "thread") and bool(m) != bool(worth):
        wrong.append(f"the paragraph is not of these rows: {head}")


if __name__ == "__main__":
    whole = json.loads(report("--json"))
    check_csv(whole)
    check_story(whole)
    check_text(whole)
    check_few()
    if BY != "thread":
        check_html(whole)
    finish()
