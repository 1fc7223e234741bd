# SPDX-License-Identifier: GPL-3.0-or-later
"""
Iceberg's study (Shah and Guyer, ISSTA 2018): table 1, executions of its microbenchmarks that diverge, and table 2, what
instrumenting costs in its four modes.
"""
import json
import os
import re
import shutil
import statistics
import subprocess

from record import ISPOT, ROOT, WORK, run

# The paper's row of a method here: runs, mean and deviation in ns, part that diverges
PAPER = {"listOfLists": (50, 11823111, 10408412, 0.1), "hashMap": (50, 1490, 4232, 0.06),
         "sortStrings": (50, 3670, 3308, 0.06), "allocate": (50, 1699, 2829, 0.04),
         "appendToList": (50, 348, 695, 0.02), "locality": (50, 2277257, 1427820, 0.02),
         "network": (50, 292898, 1761967, 0.02)}
# Section 3.5's programs, timers only
PAPER_OVERHEAD = "Sunflow 0.56 %, Skulls 0.21 %, Movie Player 0.21 %"
CALLS = 2000003
MODES = (("timers, and monitors that threads wait for", []), ("and the stacks of all calls", ["--slow-stacks", "1ns"]))


def compiled(program):
    """Whether the Java program can be built; into WORK."""
    return shutil.which("java") and shutil.which("javac") and not subprocess.run(
        ["javac", "-d", WORK, os.path.join(ROOT, "microbench", "java", program + ".java")],
        capture_output=True, check=False).returncode


def table_1(say):
    say("Iceberg: its microbenchmarks")
    data = os.path.join(WORK, "iceberg.data")
    run([ISPOT, "record", "-q", "--java", "-m", "4M", "-o", data, "--", "java", "-Xmx128m", "Variability"])
    report = json.loads(run([ISPOT, "outliers", "--json", "-i", data]))
    rows = []
    for block in report["blocks"]:
        name = re.sub(r"^Variability\.|\(.*", "", block["name"])
        if block["name"].endswith("(int)") and block.get("executions"):
            rows.append({"name": name, "runs": block["executions"], "mean": block.get("mean_ns"),
                         "deviation": block.get("stddev_ns"), "share": block["divergent"] / block["executions"],
                         "which": [d["index"] for d in block["divergent_executions"]]})
    return sorted(rows, key=lambda r: -r["share"])


def cpu_ns(options, rounds):
    """Of a call of an empty synchronized method, the thread's own CPU time, in ns; median."""
    own = []
    for _ in range(rounds):
        words = ["java", "Busy", str(CALLS)]
        if options is not None:
            words = [ISPOT, "record", "-q", "--java", "-m", "64M", "-o", os.path.join(WORK, "busy.data"), *options, "--",
                     *words]
        done = subprocess.run(words, capture_output=True, text=True, cwd=WORK, check=True)
        own.append(float(re.search(r"CPU ns a call ([\d.]+)", done.stderr).group(1)))
    return statistics.median(own)


def table_2(quick, say):
    rounds, rows = 1 if quick else 3, []
    say("Iceberg: what recording costs")
    alone = cpu_ns(None, rounds)
    for name, options in MODES:
        rows.append({"mode": name, "ns": cpu_ns(options, rounds) - alone})
    return alone, rows


def measure(quick, say):
    if not compiled("Variability") or not compiled("Busy"):
        return None
    return table_1(say), table_2(quick, say)


def show(page, measured):
    page.heading("Table 1: executions of the microbenchmarks that diverge")
    if measured is None:
        page.paragraph("Not measured: no JDK is installed.")
        return
    rows, (alone, modes) = measured
    page.paragraph("The paper's fifteen synchronized methods, written again (microbench/java/Variability.java), 300 "
                   "executions each, by its rule (more than a standard deviation above the line).")
    page.table(("method", "runs", "mean ns", "deviation ns", "diverge %", "the paper's mean", "the paper's %", "which"),
               [(r["name"], r["runs"], whole(r["mean"]), whole(r["deviation"]), round(100 * r["share"], 1),
                 PAPER.get(r["name"], [None] * 4)[1], percent(PAPER.get(r["name"], [None] * 4)[3]),
                 ", ".join(str(i) for i in r["which"][:12]) + (" …" if len(r["which"]) > 12 else "")) for r in rows])
    page.claim("table 1: fifteen methods, all executions counted (here %d)" % len(rows),
               len(rows) == 15 and all(r["runs"] == 300 for r in rows))
    page.claim("table 1: most methods have divergent executions, few of each",
               sum(0 < r["share"] <= 0.1 for r in rows) > len(rows) / 2)
    page.heading("Table 2: what instrumenting costs")
    page.paragraph("The paper has shares of the run time of three programs (timers only: %s), in which 0.19 to 24 %% of "
                   "the time are critical sections; here is what one call costs more, of an empty synchronized method "
                   "that alone takes %.0f ns of CPU time. `make bench PARTS=java` has Sunflow's renderer."
                   % (PAPER_OVERHEAD, alone))
    page.table(("mode", "ns a call more"), [(m["mode"], round(m["ns"])) for m in modes])
    page.paragraph("Not measured: Skulls and the media player, which want a screen; the paper's full call tree, "
                   "for which -F '*' traces all methods.")
    page.claim("table 2: timers cost less than 300 ns a call (here %.0f)" % modes[0]["ns"], modes[0]["ns"] < 300)


def whole(number):
    return None if number is None else round(number)


def percent(share):
    return None if share is None else round(100 * share, 1)
