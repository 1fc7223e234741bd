# SPDX-License-Identifier: GPL-3.0-or-later
"""
Section 5.4: what recording costs real programs. Each runs a fixed amount of work, untraced and
traced in turn; ispot chooses the functions, as a user who names none would have it.
"""
import os
import random
import shutil
import statistics
import time

from record import WORK, Recording, run

TEXT = os.path.join(WORK, "words")
SQL = """create table t(a integer primary key, b text); begin;
with recursive n(i) as (select 1 union all select i + 1 from n where i < 1500000)
insert into t select i, hex(i * 7919) from n; commit;
select count(*), sum(length(b)) from t where b like '%3A%'; create index i on t(b);
select count(*) from t x join t y on x.b = y.b;"""

# name, command
PROGRAMS = [
    ("sysbench cpu", ["sysbench", "cpu", "--threads=2", "--time=0", "--events=8000", "run"]),
    ("sysbench threads", ["sysbench", "threads", "--threads=4", "--thread-yields=100", "--time=0",
                          "--events=30000", "run"]),
    ("xz -T2", ["xz", "-T2", "--block-size=1MiB", "-2", "-k", "-c", TEXT]),
    ("sqlite3", ["sqlite3", ":memory:", SQL]),
    ("sort", ["sort", "--parallel=2", "-S", "64M", TEXT]),
    ("sysbench mutex", ["sysbench", "mutex", "--threads=4", "--mutex-num=4",
                        "--mutex-locks=1500000", "--mutex-loops=400", "run"]),
    ("sysbench memory", ["sysbench", "memory", "--threads=2", "--memory-block-size=64K",
                         "--memory-total-size=60G", "--time=0", "run"]),
    ("python3", ["/usr/bin/python3", "-c",
                 "print(sum(len(str(i * i)) for i in range(20000000)))"]),
]


def make_text():
    """The same words every time."""
    words = random.Random(1)
    with open(TEXT, "w", encoding="ascii") as file:
        for _ in range(1500000):
            file.write("%x %d\n" % (words.getrandbits(24), words.getrandbits(10)))


def untraced(command):
    begin = time.monotonic()
    run(command)
    return time.monotonic() - begin


def traced(command, options, patterns=()):
    """The program's time without ispot's start and end, the calls recorded, ispot's own estimate."""
    report = Recording(patterns, command, options, "run" if patterns else "chosen").report
    return report["trace"]["duration_ns"] / 1e9, report["trace"]["calls"], report["self_cost"]["overhead"]


def pairs(command, rounds, options=(), patterns=()):
    """Medians over interleaved pairs."""
    plain, ratios, calls, estimates = [], [], [], []
    for _ in range(rounds):
        plain.append(untraced(command))
        seconds, number, estimate = traced(command, options, patterns)
        ratios.append(seconds / plain[-1])
        calls.append(number)
        estimates.append(estimate or 0)
    return {"seconds": statistics.median(plain), "overhead": statistics.median(ratios) - 1,
            "calls": int(statistics.median(calls)), "estimate": statistics.median(estimates)}


# What makes a recording cheaper, where it costs much: of the functions that ispot had chosen.
CHOSEN = "@" + os.path.join(WORK, "chosen.data")
CHEAPER = (("sampled", ["-c", "20"]), ("burst", ["--burst", "100ms/1s"]))


def measure(programs, rounds, say):
    """The first so many programs, those that are here."""
    make_text()
    rows = []
    for name, command in PROGRAMS[:programs]:
        if not shutil.which(command[0]):
            continue
        say("overhead: " + name)
        row = {"name": name, "sampled": None, "burst": None, **pairs(command, rounds)}
        # Where nothing was traced the cost is that of its switches: there is no choice to make cheaper.
        for key, options in CHEAPER if row["overhead"] > 0.1 and row["calls"] else ():
            say("overhead: %s, %s" % (name, " ".join(options)))
            row[key] = pairs(command, rounds, options, [CHOSEN])["overhead"]
        rows.append(row)
    return rows
