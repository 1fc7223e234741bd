# SPDX-License-Identifier: GPL-3.0-or-later
"""
Sections 4.1 and 4.2: four microbenchmarks swept over evenly spaced delays. The completion time is
the program's own, by its own clock; the score is ispot's. The points are taken in random order
and each is the median of several runs, so that what else happens on the machine hits none of
them more than the others. Runs in which the CPU was slower all the time (its clock, a neighbour on
the other half of its core), or no execution was free, are told by their fastest execution, which took
longer: they are left out where more than three others are left.
"""
import os
import random
import statistics

from record import MICROBENCH, Recording
from stats import mean, middle, pearson

CPUS = os.cpu_count() or 1
LOCK = os.path.join(MICROBENCH, "paper_lock")
IO_THREADS = 47
FULL_SPEED = 1.05
LEAST_RUNS = 3
SPLITS = 1000


def lock(spin, hold_ns):
    return lambda delay, ms: [LOCK, "--spin", str(spin), "--hold-ns", str(hold_ns), "--delay-ns",
                              str(delay), "--ms", str(ms)]


def sharing(delay, ms):
    return [os.path.join(MICROBENCH, "paper_sharing"), "--turns", str(delay), "--stagger", "10000",
            "--ms", str(ms)]


def reading(delay, ms):
    return [os.path.join(MICROBENCH, "paper_io"), "-t", str(IO_THREADS), "--sleep", "1",
            "--stagger", "2000", "--block", "65536", "-d", str(delay), "--ms", str(ms)]


SWEEPS = [
    {"name": "POSIX lock", "fair": False, "figure": 3, "paper_rho": 0.99, "paper_points": 18, "block": "acquire",
     "pattern": "acquire", "command": lock(0, 64000), "delays": range(0, 144000, 8000), "unit": "ns",
     "time": "time to get the lock",
     "note": "Critical section of 64 µs: the paper has 47 threads for a shorter one, and waking the next "
             "thread must be short beside it."},
    {"name": "spinlock", "fair": True, "figure": 4, "paper_rho": 0.95, "paper_points": 16, "block": "acquire",
     "pattern": "acquire", "command": lock(1, 16000), "delays": range(0, 16000, 1000), "unit": "ns",
     "time": "time to get the lock",
     "note": "Critical section of 16 µs. The lock is in a function of its own: "
             "pthread_spin_lock jumps back to its first instruction, where the probe would be."},
    {"name": "false sharing", "figure": 5, "paper_rho": 0.95, "paper_points": 12, "block": "update_x",
     "pattern": "marker:update_x", "command": sharing, "delays": range(200, 1400, 100), "repeats": 2,
     "unit": "turns of an empty loop", "time": "50,000 updates of x",
     "note": "A marker stands at every 50,000th update: an update is shorter than a probe. They are atomic: a "
             "newer core keeps plain ones in its store buffer, where false sharing costs nothing. The other thread "
             "begins 10 ms later: without a free execution the score is too small. Delays below 200 are left out: "
             "x does little but wait there, and the score, which cannot exceed 1, grows ever less with the time."},
    {"name": "I/O", "figure": 6, "paper_rho": 0.99, "paper_points": 11, "block": "read_block",
     "pattern": "read_block", "command": reading, "delays": range(0, 2200, 200), "unit": "µs",
     "time": "time of a read",
     "note": "%d threads, as in the paper, on %d CPUs: they sleep for the delay, and each begins 2 ms "
             "after the one before. They read 64 KiB, not 512 bytes: so few do not keep a fast disk "
             "busy with less." % (IO_THREADS, CPUS)},
]


def score_against_mean(durations, block):
    """The score if the mean, not the fastest call, were the baseline: only calls above it count."""
    if block["sci"] is None:
        return None
    center, fastest = mean(durations), min(durations)
    excess = sum(d - fastest for d in durations)
    return block["sci"] * sum(d - center for d in durations if d > center) / excess if excess else 0


def point(sweep, delay, ms):
    recording = Recording([sweep["pattern"]], sweep["command"](delay, ms))
    block = recording.block(sweep["block"])
    return {"time": recording.printed(r"mean_ns (\S+)"), "sci": block["sci"],
            "min": block["min_ns"], "lost": recording.report["trace"]["lost_records"],
            "sci_mean": score_against_mean(recording.durations(sweep["block"]), block)}


def chosen(delays, every):
    """Evenly spaced, and as many that the middle half has three points: two are always on a line."""
    while every > 1 and len(delays[::every]) < 6:
        every -= 1
    return delays[::every]


def measure(rounds, every, ms, say):
    """All sweeps, one delay in `every` but six at least, `rounds` times (and so many `repeats` of each, where
    the machine moves a sweep as much as the delay does) in random order; a row for each."""
    delays = [chosen(sweep["delays"], every) for sweep in SWEEPS]
    points = [(s, d) for s in range(len(SWEEPS)) for d in delays[s] for _ in range(SWEEPS[s].get("repeats", 1))]
    got = {p: [] for p in points}
    for number in range(rounds):
        random.shuffle(points)
        for done, (s, delay) in enumerate(points):
            say("sweeps: round %d of %d, point %d of %d" % (number + 1, rounds, done + 1, len(points)))
            got[s, delay].append(point(SWEEPS[s], delay, ms))
    return [summary({**sweep, "delays": delays[s]}, [got[s, d] for d in delays[s]])
            for s, sweep in enumerate(SWEEPS)]


def at_full_speed(runs):
    """Those whose fastest execution is as fast as any at this delay, within 5 %; the three next to it at least."""
    by_fastest = sorted(runs, key=lambda p: p["min"])
    return [p for i, p in enumerate(by_fastest) if i < LEAST_RUNS or p["min"] <= FULL_SPEED * by_fastest[0]["min"]]


def apart(points, others):
    """By how much the fastest execution of some delays takes longer than that of others, in the middle one of
    each, whichever is the faster."""
    fastest = sorted(statistics.median(min(p["min"] for p in runs) for runs in side if runs)
                     for side in (points, others))
    return fastest[1] / fastest[0] - 1


def contention_gap(points):
    """Between the half of the delays with more contention and that with less; None: there is but one delay."""
    half = len(points) // 2
    return apart(points[:half], points[-half:]) if half else None


def chance_gap(points):
    """What halves of equal contention are apart by, 99 times in 100: of each delay half of the runs in each."""
    split, gaps = random.Random(1), []
    for _ in range(SPLITS):
        sides = [], []
        for number, runs in enumerate(points):
            runs = split.sample(runs, len(runs))
            half = (len(runs) + number % 2) // 2
            sides[0].append(runs[:half])
            sides[1].append(runs[half:])
        gaps.append(apart(*sides) if all(any(side) for side in sides) else 0)
    return sorted(gaps)[SPLITS * 99 // 100]


def summary(sweep, points):
    """Medians over the rounds and what follows from them; the fastest execution is that of all rounds.
    Runs without a score (nothing timed, on a busy machine) are left out, and so is a delay of which
    there are no others."""
    points = [[p for p in runs if p["sci"] is not None] for runs in points]
    row = {key: sweep[key] for key in ("name", "figure", "paper_rho", "paper_points", "unit", "time", "note")}
    row["delays"] = [delay for delay, runs in zip(sweep["delays"], points) if runs]
    points = [runs for runs in points if runs]
    row["lost"] = sum(p["lost"] for runs in points for p in runs)
    row["mins"] = [min(p["min"] for p in runs) for runs in points]
    row["runs"] = sum(len(runs) for runs in points)
    row["rho_of_all"] = pearson(*([statistics.median(p[key] for p in runs) for runs in points]
                                  for key in ("time", "sci")))
    row["gap"], row["chance"] = contention_gap(points), chance_gap(points)
    points = [at_full_speed(runs) for runs in points]
    row["slower"] = row["runs"] - sum(len(runs) for runs in points)
    for key in ("time", "sci", "sci_mean"):
        row[key + "s"] = [statistics.median(p[key] for p in runs) for runs in points]
    for name, scores in (("rho", "scis"), ("rho_mean", "sci_means")):
        row[name] = pearson(row["times"], row[scores])
        few = len(middle(row["times"])) < 3
        row[name + "_middle"] = None if few else pearson(middle(row["times"]), middle(row[scores]))
        row[name + "_passes"] = passes(row[name], row[name + "_middle"])
    return row


def passes(rho, rho_middle):
    """At least the paper's lowest, and not by two clusters only."""
    return rho is not None and rho >= 0.95 and rho_middle is not None and rho_middle > 0.8
