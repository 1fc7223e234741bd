# SPDX-License-Identifier: GPL-3.0-or-later
"""
The datacenter study (Kambadur et al., SC 2012): its table I and figures 1 to 8 from a made-up fleet of its shape
(`ispot fleet simulate`), in which it is known who slows whom, and what this machine can say of itself.
"""
import csv
import json
import os
import shutil
import subprocess

import svg
from record import ISPOT, WORK, run

MACHINES, SAMPLES = 100, 10000000


def fleet(*words):
    return run([ISPOT, "fleet", *words], WORK)


def simulated(quick, say):
    directory, database = os.path.join(WORK, "fleet"), os.path.join(WORK, "fleet.db")
    shutil.rmtree(directory, ignore_errors=True)
    if os.path.exists(database):
        os.remove(database)
    say("datacenter: %d machines" % MACHINES)
    fleet("simulate", "-o", directory, "--machines", str(MACHINES // (4 if quick else 1)), "--samples",
          str(SAMPLES // (4 if quick else 1)))
    files = sorted(os.path.join(directory, name) for name in os.listdir(directory) if name.endswith(".fleet"))
    say("datacenter: reducing")
    fleet("reduce", "--db", database, *files)
    with open(os.path.join(directory, "planted.csv"), encoding="utf-8") as file:
        planted = [(r["base"], r["corunner"]) for r in csv.DictReader(file) if r["class"] == "core"]
    report = json.loads(fleet("report", "--db", database, "--json"))
    run([ISPOT, "fleet", "report", "--db", database, "--html", os.path.join(WORK, "fleet.html")], WORK)
    return {"report": report, "planted": planted}


def measure(quick, say):
    counts = subprocess.run([ISPOT, "fleet", "record", "-d", "1", "-o", os.path.join(WORK, "own.fleet")],
                            capture_output=True, text=True, check=False)
    return simulated(quick, say), None if not counts.returncode else counts.stderr.strip().split("\n")[0]


def bars(report):
    """Of the most common application its eight most common co-runners on a core: figure 7."""
    base = report["applications"][0]
    cells = [p for p in report["pairs"] if p["base"] == base["name"] and p["class"] == "core" and
             p["change"] is not None]
    return base, sorted(cells, key=lambda p: -p["samples"])[:8]


def show(page, measured):
    made, refused = measured
    report, planted = made["report"], made["planted"]
    whole = report["fleet"]
    page.heading("Table I: what was collected")
    page.table(("", "the paper", "here, made up"), [
        ("machines", 1000, whole["machines"]), ("hardware threads of a machine", 24, 24),
        ("applications", 1102, len(report["applications"])), ("samples", "3.45e8", whole["samples"]),
        ("samples without a co-runner, %", 0.6, round(100 * whole["samples_alone"] / whole["samples"], 2))])
    page.heading("Figures 1 and 2: how full machines are")
    page.table(("", "the paper, mean", "here, mean", "half of the time at least", "at most"), [
        ("hardware threads in use", "more than 14", whole["busy_cpus"]["mean"], whole["busy_cpus"]["median"],
         whole["busy_cpus"]["most"]),
        ("applications at once", "five or more on most", whole["applications_at_once"]["mean"],
         whole["applications_at_once"]["median"], whole["applications_at_once"]["most"])])
    page.heading("Figures 3, 4 and 6: the method, co-runners and classes")
    page.paragraph("Drawings, nothing to measure. Figure 4's example is a test (tests/unit/test_corunner.c): A1 has "
                   "two co-runners because two samples of B together last as long, C1 has none. The classes of figure 6 "
                   "are core, cache or socket, and other; ispot-fleet(1).")
    page.heading("Figures 5 and 7: an application's performance alongside others")
    base, cells = bars(report)
    page.paragraph("%s: median IPC %.3f, noise %.1f %%. Alongside its most common co-runners on a core; the figures "
                   "themselves are in build/paper/fleet.html." % (base["name"], base["median"] / 1e6,
                                                                  100 * base["noise"]))
    page.table(("co-runner", "samples", "median IPC", "change %", "deviations", "beyond the noise"),
               [(c["corunner"], c["samples"], "%.3f" % (c["median"] / 1e6), round(100 * c["change"], 1),
                 c["deviations"], c["effect"]) for c in cells])
    if cells:
        page.figures("Change of performance", [svg.plot(list(range(1, len(cells) + 1)), [
            ("", [100 * c["change"] for c in cells], "a")], "co-runner", "%")])
    page.heading("Figure 8: beyond-noisy interferers on a shared core")
    found = {(p["base"], p["corunner"]) for p in report["pairs"] if p["effect"] == "negative" and p["class"] == "core"}
    tested = {(p["base"], p["corunner"]) for p in report["pairs"] if p["effect"] != "too-few-samples" and
              p["class"] == "core"}
    known = [pair for pair in planted if pair in tested]
    right = len(found & set(planted))
    page.paragraph("%d pairs were made to interfere, %d of them have enough samples; %d pairs are said to, %d of those "
                   "were made to." % (len(planted), len(known), len(found), right))
    page.claim("figure 8: every pair that was made to interfere is found (%d of %d)" % (right, len(known)),
               right == len(known) and right > 0)
    page.claim("figure 8: no other pair is said to", right == len(found))
    page.heading("On this machine")
    page.paragraph("Its own applications' IPC: %s" % (
        "can be recorded: sudo ispot fleet record -d 60." if refused is None else "not measured: %s." % refused))
    page.paragraph("Not measured: production servers. What a real fleet's applications do to each other is not made "
                   "up by the simulator, which knows one cause: a co-runner that takes a share of another's IPC.")
