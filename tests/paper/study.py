# SPDX-License-Identifier: GPL-3.0-or-later
"""
Table 2's applications, as far as checkouts have them: what the paper reports of each (figure 9, table 3, section
5.5) beside what ispot says of a run here, with the same functions traced and the standard library's locks.
"""
import os
import time

import suites
from applications import of_most_lost
from record import Failed, Recording, run

# application, the paper's hot functions (table 3; of what has another name today, that), its highest SCI (figure 9,
# where the text gives it; LOW: below 0.2), its cause, and the kinds of causes that say the same here
LOW, NOT_INTERFERENCE = "< 0.2", "not interference"
APPLICATIONS = [
    (suites.HISTOGRAM, ["calc_hist"], LOW, "called once: not judged", ()),
    (suites.KMEANS, ["find_clusters", "calc_means"], LOW, "called once: not judged", ()),
    (suites.LINEAR_REGRESSION, ["linear_regression_pthread"], "0.37", "false sharing; marked by hand",
     ()),
    (suites.MATRIX_MULTIPLY, ["matrixmult_map"], LOW, "called once: not judged", ()),
    (suites.PCA, ["calc_cov"], LOW, "called once: not judged", ()),
    (suites.STRING_MATCH, ["string_match_map"], LOW, "called once: not judged", ()),
    (suites.WORD_COUNT, ["wordcount_reduce"], "0.48", "a false positive: the work differs", (NOT_INTERFERENCE,)),
    (suites.BARNES, ["hackcofm", "walksub", "subdivp"], LOW, "none", ()),
    (suites.FMM, ["VListInteraction", "DownwardPass", "UpwardPass"], LOW, "none", ()),
    (suites.OCEAN, ["pthread_barrier_wait", "relax", "slave2", "pthread_mutex_lock"], LOW, "none", ()),
    (suites.OCEAN_NON, ["slave2", "laplacalc", "relax", "pthread_barrier_wait"], LOW, "none", ()),
    (suites.RADIOSITY, ["pthread_mutex_lock", "process_tasks"], "0.87", "lock contention", ("lock",)),
    (suites.RAYTRACE, ["pthread_mutex_lock"], "0.82", "lock contention, then false sharing", ("lock",)),
    (suites.WATER, ["INTERF", "CSHIFT"], LOW, "none", ()),
]


# Threads of these suites wait in the standard library; today's has the waits of the paper's __lll_lock_wait in these.
WAITS = ["libc:pthread_mutex_lock", "libc:pthread_cond_wait", "libc:pthread_barrier_wait", "libc:pthread_join"]


# Programs whose functions take less than their probes: one call in so many is recorded.
SAMPLED = {suites.BARNES: 100, suites.FMM: 100, suites.WATER: 100, suites.WORD_COUNT: 10, suites.RADIOSITY: 10}


def patterns(application, functions):
    """Those of the functions that the program has: some were inlined, or have another name today."""
    listed = run(["nm", "-C", application.command[0]], application.directory())
    defined = {line.split(" ", 2)[2] for line in listed.splitlines() if line[17:18] in "tT" and line.count(" ") >= 2}
    return [name for name in functions if name in defined] + WAITS


def of_paper(blocks, functions):
    """The block among the paper's functions whose score is highest; None: none of them was traced."""
    known = [b for b in blocks if b["name"] in functions and not b.get("key")]
    return max(known, key=lambda b: b["sci"] or 0) if known else None


def row(application, functions, sci, cause, kinds, report, seconds):
    """What stands in the table; waits and idleness are not what the paper looked at."""
    blocks = [b for b in report["blocks"] if b["kind"] != "thread"]
    worst = of_most_lost([b for b in blocks if b["verdict"] != "idle"] or blocks) if blocks else {}
    same = of_paper(blocks, functions) or {}
    found = [c["kind"] for b in (worst, same) for c in b.get("causes") or []]
    trace = report["trace"]
    return {"suite": application.suite, "name": application.name, "functions": functions, "paper_sci": sci,
            "paper_cause": cause, "same": same.get("name"), "sci": same.get("sci"), "verdict": same.get("verdict"),
            "worst": worst.get("name"), "lost": worst.get("lost_threads"),
            "cause": (worst.get("causes") or [{}])[0].get("kind"), "seconds": seconds,
            "overhead": report["self_cost"]["overhead"],
            "lost_share": trace["lost_ns"] / trace["threads_ns"] if trace.get("threads_ns") else None,
            "agrees": agrees(kinds, found, same)}


def agrees(kinds, found, same):
    """Whether what the paper found is what is said here; None: it is not asked."""
    if not kinds:
        return None
    if NOT_INTERFERENCE in kinds:
        return same.get("verdict") != "interference"
    return any(kind in kinds for kind in found)


def seconds_of(application):
    begin = time.monotonic()
    run(application.words(), application.directory())
    return time.monotonic() - begin


def measure(say):
    """Rows, the suites that were not given, what failed."""
    rows, failures = [], []
    absent = [suite for suite in suites.SUITES if not os.environ.get(suite)]
    for application, functions, sci, cause, kinds in APPLICATIONS:
        if application.suite in absent:
            continue
        say("study: %s" % application.name)
        try:
            application.build()
            seconds = seconds_of(application)
            report = Recording(patterns(application, functions), application.words(),
                               ["-c", str(SAMPLED.get(application, 1))], cwd=application.directory(), whole=True).report
            rows.append(row(application, functions, sci, cause, kinds, report, seconds))
        except Failed as failed:  # the others are measured all the same
            failures.append("%s: %s" % (application.name, failed))
    return rows, absent, failures


def show(page, rows, absent, failures):
    page.heading("Table 2: the paper's applications, from checkouts (SPLASH3=DIR, PHOENIX=DIR)")
    if absent:
        page.paragraph("Not given: %s." % ", ".join("%s=DIR" % suite for suite in absent))
    if rows:
        page.paragraph("%d threads, the paper 4 (Phoenix) and 48 (Splash), on inputs for a run of seconds. Traced are "
                       "the paper's hot functions that the program has, and the standard library's waits. \"Its hottest\" "
                       "is the one of the paper's functions with the highest score here, \"worst\" what loses most. "
                       "Of the shortest functions one call in 10 or 100 is recorded. Functions called once a thread are not judged, as in the paper, which marked their loops by "
                       "hand. Not measured: Parsec, NPB and LevelDB's db_bench, which are no such checkouts (LevelDB "
                       "itself is among the applications of section 5.5)." % suites.THREADS)
        page.table(("application", "the paper's SCI", "its cause", "its hottest", "SCI", "verdict", "worst", "cause",
                    "lost %", "seconds", "overhead %"),
                   [(r["name"], r["paper_sci"], r["paper_cause"], r["same"] or "not traced", r["sci"],
                     r["verdict"] or "–", short(r["worst"]), r["cause"] or "–", share(r["lost_share"]), r["seconds"],
                     share(r["overhead"])) for r in rows])
    for r in rows:
        if r["agrees"] is not None:
            page.claim("5.5 and 5.6: %s: %s; what is said here is the same" % (r["name"], r["paper_cause"]), r["agrees"])
    for failure in failures:  # of programs that are not ours
        page.paragraph("Not measured: %s" % " ".join(failure.split())[:200])


def short(name):
    return name if not name or len(name) <= 40 else name[:37] + "..."


def share(part):
    return None if part is None else round(100 * part, 1)
