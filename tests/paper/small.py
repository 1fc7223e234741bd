# SPDX-License-Identifier: GPL-3.0-or-later
"""
The rest of section 5 in small: a function that is called too few times (5.3), a request seen from client and
server on a network of three bandwidths (5.5.3, table 4), the score against the number of threads (5.5.4), the
reducer of word_count (5.6.1), the same program under coz (5.7).
"""
import collections
import os
import re
import shutil
import statistics

from record import MICROBENCH, ROOT, WORK, Recording, run

# of a loopback device in a network namespace of its own, and the client's score in the paper; None: as fast as it is
BANDWIDTHS = (("100mbit", 0.93), ("1gbit", 0.82), (None, 0.62))
SHAPED = """ip link set lo up mtu 1500 &&
{ [ -z "$0" ] || tc qdisc add dev lo root tbf rate "$0" burst 128kb latency 400ms; } && exec "$@" """
THREADS = (1, 2, 4, 8, 16)
COZ_MS = 15000


def few_calls(say):
    """A function called once, and the loop in it that the report names, marked."""
    command = [os.path.join(MICROBENCH, "paper_sharing"), "--turns", "1400", "--stagger", "10000"]
    rows = []
    for pattern in ("update_x", "marker:update_x"):
        say("few calls: " + pattern)
        block = Recording([pattern], command).block("update_x")
        rows.append({"pattern": pattern, "calls": block["calls"], "sci": block["sci"], "verdict": block["verdict"],
                     "loop": block.get("loop")})
    return {"rows": rows, "line": source_line(rows[0]["loop"])}


def source_line(place):
    """The text of FILE:LINE; None where there is none."""
    if not place:
        return None
    path, line = place.rsplit(":", 1)
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read().splitlines()[int(line) - 1].strip()


def network(say):
    """Rows of bandwidth and scores; None where namespaces cannot be made or shaped."""
    try:
        run(["unshare", "-n", "sh", "-c", SHAPED, BANDWIDTHS[0][0], "true"])
    except Exception:  # pylint: disable=broad-except
        return None
    rows = []
    for bandwidth, paper in BANDWIDTHS:
        say("network: %s" % (bandwidth or "not shaped"))
        recording = Recording(["request", "serve"], [os.path.join(MICROBENCH, "paper_requests")], whole=True,
                              within=["unshare", "-n", "sh", "-c", SHAPED, bandwidth or ""])
        client, server = recording.block("request"), recording.block("serve")
        rows.append({"bandwidth": bandwidth or "not shaped", "paper": paper, "client": client["sci"],
                     "server": server["sci"], "ns": recording.printed(r"mean_ns ([\d.]+)")})
    return rows


# memcached and a client that asks it, in one namespace, until the client has its answers.
SERVED = """memcached -u root -l 127.0.0.1 -p 21211 -t 4 & server=$!
sleep 1
memcslap --servers=127.0.0.1:21211 --concurrency=8 --execute-number="$0" --test=get; status=$?
kill $server; exit $status"""


def memcached(requests, say):
    """The same with memcached itself: a client's gets and the server's answers; None where it cannot be run."""
    if not shutil.which("memcached") or not shutil.which("memcslap"):
        return None
    try:
        run(["unshare", "-n", "sh", "-c", SHAPED, BANDWIDTHS[0][0], "true"])
    except Exception:  # pylint: disable=broad-except
        return None
    rows = []
    for bandwidth, paper in BANDWIDTHS:
        say("memcached: %s" % (bandwidth or "not shaped"))
        recording = Recording(["libmemcached:memcached_get", "libc:sendmsg"], ["sh", "-c", SERVED, str(requests)],
                              whole=True, within=["unshare", "-n", "sh", "-c", SHAPED, bandwidth or ""])
        client, server = recording.block("memcached_get"), recording.block("sendmsg")
        rows.append({"bandwidth": bandwidth or "not shaped", "paper": paper, "client": client["sci"],
                     "server": server["sci"] if server else None, "ns": client["total_ns"] / client["timed_calls"]})
    return rows


def threads(runs, say):
    """The score of a lock against the number of threads that share it."""
    rows = []
    for number in THREADS:
        say("threads: %d" % number)
        got = [Recording(["acquire"], [os.path.join(MICROBENCH, "paper_lock"), "-t", str(number), "--hold-ns",
                                       "16000", "--delay-ns", "16000"]).block("acquire")["sci"]
               for _ in range(runs)]
        rows.append({"threads": number, "sci": statistics.median(got)})
    return rows


def word_count(say):
    say("word_count")
    recording = Recording(["wordcount_reduce"], [os.path.join(MICROBENCH, "word_count")])
    block = recording.block("wordcount_reduce")
    return {"sci": block["sci"], "verdict": block["verdict"], "cause": (block["causes"] or [{}])[0].get("kind")}


def coz(say):
    """Lines that coz tried to speed up, with the samples in them; None where it is not installed."""
    program, profile = os.path.join(WORK, "lock_coz"), os.path.join(WORK, "profile.coz")
    if not shutil.which("coz"):
        return None
    say("coz")
    # coz reads DWARF up to version 4, without gcc's view numbers.
    run(["gcc", "-std=gnu11", "-D_GNU_SOURCE", "-O2", "-gdwarf-4", "-gno-variable-location-views",
         "-fno-omit-frame-pointer", "-DWITH_COZ", "-I", ROOT, os.path.join(ROOT, "microbench", "paper_lock.c"),
         "-o", program, "-pthread", "-ldl"])
    if os.path.exists(profile):
        os.remove(profile)
    run(["coz", "run", "-o", profile, "---", program, "--hold-ns", "16000", "--delay-ns", "2000", "--ms",
         str(COZ_MS)])
    lines = collections.Counter()
    with open(profile, encoding="utf-8") as file:
        for line in file:
            found = re.match(r"experiment\tselected=(\S+)\t.*selected-samples=(\d+)", line)
            if found:
                lines[os.path.basename(found.group(1))] += int(found.group(2))
    block = Recording(["acquire", "release"], [os.path.join(MICROBENCH, "paper_lock"), "--hold-ns", "16000",
                                               "--delay-ns", "2000"]).block("acquire")
    return {"lines": lines.most_common(), "sci": block["sci"],
            "cause": (block["causes"] or [{}])[0].get("kind")}
