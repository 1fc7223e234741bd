# SPDX-License-Identifier: GPL-3.0-or-later
"""
LIME's study (Oh et al., ICSE 2011): its tables 1 and 3 on those of its applications that a checkout of Splash has
(SPLASH3=DIR), by counts of instructions as with its Pin-based profiler, and its figure 9, the time of clustering.
"""
import json
import os
import subprocess

import suites
import svg
from record import ISPOT, ROOT, Failed, run

CORES = 8  # threads: counts do not ask for as many CPUs
# application, a smaller input, imbalance of table 1 with 8 cores in per cent, reported events above 0.1 and their
# highest score in table 2 with 8 cores: control flow, cache misses
APPLICATIONS = [
    (suites.LU, None, 16.1, (2, 0.97), (0, 0.01)),
    (suites.WATER_SPATIAL, None, 1.7, (1, 0.93), (0, None)),
    (suites.RADIX, None, 0.0, (0, None), (1, 0.99)),
    (suites.FFT, None, 0.1, (0, None), (2, 1.03)),
    (suites.BARNES, "inputs/n8k-p{p}", 10.2, (1, 1.00), (0, None)),
    (suites.OCEAN, ["OCEAN", "-p{p}", "-n130"], 1.3, (0, None), (1, 0.97)),
]
IMPORTANT = 0.1
EVENTS, THREADS = (20, 63, 200, 632, 2000), (8, 16, 32, 64)
CLUSTERING = os.path.join(ROOT, "build", "bench", "cluster_speed")


def smaller(application, change):
    if isinstance(change, str):
        application.stdin = change
    elif change:
        application.command = change


def counted(application):
    """What `ispot imbalance` says of a run that it counts."""
    return json.loads(run(application.words(CORES, [  # the counter does not follow a shell into it
        ISPOT, "imbalance", "--json", "--count", "callgrind", "--min-idle", "0.1", "--"]), application.directory()))


def row(application, paper, report):
    """Of the section in which threads idle most, weighted by its length."""
    sections = [s for s in report["sections"] if s.get("imbalance") is not None]
    section = max(sections, key=lambda s: s["imbalance"] * (s["duration"] or 0)) if sections else {}
    causes = [c for c in section.get("causes") or [] if c["kind"] != "cache-miss"]
    important = [c for c in causes if c["score"] > IMPORTANT]
    top = max(causes, key=lambda c: c["score"]) if causes else None
    return {"name": application.name, "section": os.path.basename((section.get("name") or "none").rstrip(")")),
            "imbalance": section.get("imbalance"), "paper_imbalance": paper[0] / 100, "paper": paper[1],
            "reported": len(important), "all": len(causes), "score": top["score"] if top else None,
            "line": "%s:%s" % (os.path.basename(top["file"] or "?"), top["line"]) if top else None}


def tables(quick, say):
    rows, failures = [], []
    if not os.environ.get("SPLASH3"):
        return None, failures
    for application, change, imbalance, flow, _ in APPLICATIONS[:1 if quick else None]:
        say("LIME: %s" % application.name)
        smaller(application, change)
        try:
            application.build()
            rows.append(row(application, (imbalance, flow), counted(application)))
        except Failed as failed:
            failures.append("%s: %s" % (application.name, failed))
    return rows, failures


def clustering(quick, say):
    """Seconds of {(threads, events)}, of events that follow each other as a program's do; None: it is not built."""
    if not os.path.exists(CLUSTERING):
        return None
    took = {}
    for threads in THREADS[:1 if quick else None]:
        for events in EVENTS:
            say("LIME: clustering %d events of %d threads" % (events, threads))
            took[threads, events] = float(subprocess.run(
                [CLUSTERING, str(events), str(threads), "alike"], capture_output=True, text=True,
                check=True).stdout.split()[1])
    return took


def measure(quick, say):
    return tables(quick, say), clustering(quick, say)


def show(page, measured):
    (rows, failures), took = measured
    page.heading("Tables 1 and 3: how uneven the sections are, and the lines to blame")
    if rows is None:
        page.paragraph("Not measured: give a checkout of Splash-3, SPLASH3=DIR.")
    else:
        page.paragraph("%d threads, counted in instructions (callgrind), as with the paper's Pin-based profiler; the "
                       "paper's figures are those of 8 simulated cores. Splash-3 builds its barriers of a mutex and a "
                       "condition, so a section here may be all from creating threads to joining them where the paper "
                       "has one barrier; inputs are smaller. Lines: reported with a score above %.1f (all)."
                       % (CORES, IMPORTANT))
        page.table(("application", "section", "idle, paper %", "idle %", "lines, paper", "score, paper", "lines",
                    "score", "line"),
                   [(r["name"], r["section"], round(100 * r["paper_imbalance"], 1), per_cent(r["imbalance"]),
                     r["paper"][0], r["paper"][1], "%d (%d)" % (r["reported"], r["all"]), r["score"], r["line"] or "–")
                    for r in rows])
        uneven = [r for r in rows if r["paper_imbalance"] > 0.05]
        for r in uneven:
            page.claim("table 1: %s is uneven (idle %s %%), and a line is to blame" % (
                r["name"], per_cent(r["imbalance"])), (r["imbalance"] or 0) > 0.02 and r["reported"] > 0)
    for failure in failures:
        page.paragraph("Not measured: %s" % " ".join(failure.split())[:200])
    page.heading("Table 2: cache misses and cycles of a simulated machine")
    page.paragraph("Not measured: SESC simulates cores of a given cache. Where a machine has the counters, "
                   "`ispot imbalance --count hardware --event cache-misses` samples them.")
    page.heading("Figure 9: time of clustering against the number of events")
    if took is None:
        page.paragraph("Not measured: build/bench/cluster_speed is not built (make paper builds it).")
        return
    threads = sorted({key[0] for key in took})
    page.table(("events", *("%d threads, s" % t for t in threads)),
               [(events, *("%.4f" % took[t, events] for t in threads)) for events in EVENTS])
    page.figures("Seconds of clustering", [svg.plot(list(EVENTS), [("%d threads" % t, [took[t, e] for e in EVENTS],
                                                                   "a") for t in threads], "events", "s")])
    worst = max(took[t, EVENTS[-1]] for t in threads)
    page.claim("figure 9: %d events are clustered in less than the paper's 10 s (here %.2f s)" % (EVENTS[-1], worst),
               worst < 10)


def per_cent(share):
    return None if share is None else round(100 * share, 1)
