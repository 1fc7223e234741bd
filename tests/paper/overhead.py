# SPDX-License-Identifier: GPL-3.0-or-later
"""
Section 5.4: what recording costs real programs. Each runs a fixed amount of work, untraced and
traced in turn; ispot chooses the functions, as a user who names none would have it. The time of a
server's work is its client's; files are in memory, where no disk's moods are in the times.
"""
import os
import random
import statistics

from applications import MEMORY, LevelDB, Postgres, Program, in_directory, memcached, redis, seconds
from record import WORK, Recording

TEXT = os.path.join(WORK, "words")
SQL = """create table t(a integer primary key, b text); begin;
with recursive n(i) as (select 1 union all select i + 1 from n where i < 1500000)
insert into t select i, hex(i * 7919) from n; commit;
select count(*), sum(length(b)) from t where b like '%3A%'; create index i on t(b);
select count(*) from t x join t y on x.b = y.b;"""

# name, command
COMMANDS = [
    ("sysbench cpu", ["sysbench", "cpu", "--threads=2", "--time=0", "--events=16000", "run"]),
    ("sysbench threads", ["sysbench", "threads", "--threads=4", "--thread-yields=100", "--time=0",
                          "--events=30000", "run"]),
    ("xz -T2", ["xz", "-T2", "--block-size=1MiB", "-2", "-k", "-c", TEXT]),
    ("sqlite3", ["sqlite3", ":memory:", SQL]),
    ("sort", ["sort", "--parallel=2", "-S", "512M", *[TEXT] * 2]),
    ("sysbench mutex", ["sysbench", "mutex", "--threads=4", "--mutex-num=4",
                        "--mutex-locks=1500000", "--mutex-loops=400", "run"]),
    ("sysbench memory", ["sysbench", "memory", "--threads=2", "--memory-block-size=64K",
                         "--memory-total-size=40G", "--time=0", "run"]),
    ("python3", ["/usr/bin/python3", "-c",
                 "print(sum(len(str(i * i)) for i in range(20000000)))"]),
]
# name, what of applications.py runs it
PROGRAMS = [(name, Program(command, MEMORY)) for name, command in COMMANDS] + [
    ("PostgreSQL", Postgres(MEMORY, 600)), ("memcached", memcached(2, 12000)), ("redis", redis(MEMORY, 60000)),
    ("LevelDB", LevelDB(MEMORY, 40000)),
]


def make_text():
    """The same words every time."""
    words = random.Random(1)
    with open(TEXT, "w", encoding="ascii") as file:
        for _ in range(1500000):
            file.write("%x %d\n" % (words.getrandbits(24), words.getrandbits(10)))


def traced(way, options, patterns=()):
    """Its report; the program's time in it is without ispot's start and end."""
    name = "run" if patterns or options else "chosen"
    return in_directory(way, lambda command, target, directory: Recording(
        patterns, command, [*target, *options], name, cwd=directory).report)


def pairs(way, rounds, options=(), patterns=()):
    """Medians over interleaved pairs, and the last report."""
    plain, ratios, calls, estimates, report = [], [], [], [], None
    for _ in range(rounds):
        plain.append(seconds(way))
        report = traced(way, options, patterns)
        ratios.append(report["trace"]["duration_ns"] / 1e9 / plain[-1])
        calls.append(report["trace"]["calls"])
        estimates.append(report["self_cost"]["overhead"] or 0)
    return {"seconds": statistics.median(plain), "overhead": statistics.median(ratios) - 1,
            "calls": int(statistics.median(calls)), "estimate": statistics.median(estimates), "report": report}


def switches_share(report):
    """Of what ispot says that its probes cost: the records of context switches."""
    cost = report["self_cost"]
    return cost["scheduling_cost_ns"] / cost["probes_cost_ns"] if cost["probes_cost_ns"] else 0


def cheaper(way, rounds, row):
    """What makes a recording cheaper, where it costs much: calls sampled; the function that leads the report,
    alone and for a part of the time."""
    row["sampled"] = pairs(way, rounds, ["-c", "20"])["overhead"]
    functions = [b["name"].split(" in ")[0] for b in row["report"]["blocks"] if b["kind"] == "function"]
    if functions:
        row["first"] = functions[0]
        row["burst"] = pairs(way, rounds, ["--burst", "100ms/1s"], functions[:1])["overhead"]


def measure(programs, rounds, say):
    """The first so many programs, those that are here; and the names of those that are not."""
    make_text()
    rows, absent = [], []
    for name, way in PROGRAMS[:programs]:
        if not way.installed():
            absent.append(name)
            continue
        say("overhead: " + name)
        row = {"name": name, "sampled": None, "burst": None, "first": None, **pairs(way, rounds)}
        row["switches"] = switches_share(row["report"])
        if row["overhead"] > 0.1:
            say("overhead: %s, cheaper" % name)
            cheaper(way, rounds, row)
        rows.append(row)
    return rows, absent
