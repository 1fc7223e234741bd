# SPDX-License-Identifier: GPL-3.0-or-later
"""
Real applications of the paper's kinds, as Debian packages them: what ispot reports of each, a change
that the report suggests, and whether score and run time fall together when it is made. A run is a
fixed amount of work; what is compared ran in turn.
"""
import os
import shutil
import socket
import statistics
import subprocess
import tempfile
import time

from record import AHEAD, WORK, Failed, Recording, run

LEVELDB = """import sys, threading, plyvel
db = plyvel.DB(sys.argv[1], create_if_missing=True)
def work(t):
    for i in range(int(sys.argv[2])):
        db.put(b'%d.%d' % (t, i), b'x' * 100, sync=True)
threads = [threading.Thread(target=work, args=(t,)) for t in range(4)]
[t.start() for t in threads]
[t.join() for t in threads]"""
POSTGRES = "/usr/lib/postgresql/%d/bin"
DISK, MEMORY = WORK, "/dev/shm"


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Program:
    """A command that does the work itself. Its arguments may name {dir}, a directory of its own."""

    def __init__(self, command, parent=DISK):
        self.command, self.parent = command, parent

    def installed(self):
        return shutil.which(self.command[0])

    def prepare(self, directory):
        """What the work needs, not timed; returns the command that is timed and its options of record."""
        return [word.format(dir=directory) for word in self.command], []

    def finish(self):
        """Ends what prepare() started."""


class LevelDB(Program):
    """Through its Python binding, N synchronous writes by each of four threads."""

    def __init__(self, parent, writes=1000):
        super().__init__(["/usr/bin/python3", "-c", LEVELDB, "{dir}/db", str(writes)], parent)

    def installed(self):
        return super().installed() and subprocess.run(
            ["/usr/bin/python3", "-c", "import plyvel"], stderr=subprocess.DEVNULL, check=False).returncode == 0


class Fileio(Program):
    """sysbench fileio wants its files made first."""

    def prepare(self, directory):
        command, options = super().prepare(directory)
        run([*command[:-1], "prepare"], directory)
        return command, options


class Server(Program):
    """A server, fresh for each run, and the command that loads it. {port} is the server's."""

    def __init__(self, server, load, parent=DISK):
        super().__init__(load, parent)
        self.server, self.process, self.port = server, None, None

    def installed(self):
        return super().installed() and shutil.which(self.server[0])

    def words(self, command, directory):
        return [word.format(dir=directory, port=self.port) for word in command]

    def prepare(self, directory):
        self.port = free_port()
        self.process = subprocess.Popen(  # pylint: disable=consider-using-with
            ["sh", "-c", AHEAD, "sh", *self.words(self.server, directory)], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True, cwd=directory)
        self.await_ready()
        return self.words(self.command, directory), ["-p", str(self.process.pid)]

    def is_ready(self):
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
            return True
        except OSError:
            return False

    def await_ready(self):
        for _ in range(200):
            if self.is_ready():
                return
            time.sleep(0.05)
        self.finish()
        raise Failed("%s is not ready after 10 s" % self.server[0])

    def finish(self):
        self.process.terminate()
        self.process.wait()


class Postgres(Server):
    """A cluster of its own, as the user postgres: the server refuses root."""

    def __init__(self, parent, transactions=400):
        found = [POSTGRES % v for v in range(30, 9, -1) if os.path.isdir(POSTGRES % v)]
        self.bin = found[0] if found else None
        super().__init__(["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups",
                          "%s/postgres" % self.bin, "-D", "{dir}/data", "-p", "{port}", "-k", "{dir}",
                          "-h", "127.0.0.1"],
                         ["%s/pgbench" % self.bin, *self.where(), "-n", "-c", "4", "-j", "2", "-t",
                          str(transactions)], parent)

    def installed(self):
        return self.bin

    def is_ready(self):
        """It listens before it takes connections."""
        asked = [self.bin + "/pg_isready", "-q", *self.words(self.where()[:4], None)]
        return subprocess.run(asked, check=False).returncode == 0

    @staticmethod
    def where():
        return ["-h", "127.0.0.1", "-p", "{port}", "-U", "postgres"]

    def prepare(self, directory):
        shutil.chown(directory, "postgres", "postgres")
        run([*self.server[:4], self.bin + "/initdb", "-A", "trust", "-N", "-D", directory + "/data"])
        command = super().prepare(directory)
        run([self.bin + "/createdb", *self.words(self.where(), directory), "bench"])
        run([self.bin + "/pgbench", *self.words(self.where(), directory), "-q", "-i", "-s", "1", "bench"])
        return [*command[0], "bench"], command[1]


def sysbench(*words):
    return Program(["sysbench", *words, "run"])


def fileio(parent):
    return Fileio(["sysbench", "fileio", "--file-total-size=16M", "--file-num=4", "--file-test-mode=rndwr",
                   "--file-fsync-freq=4", "--threads=4", "--time=0", "--events=20000", "run"], parent)


def memcached(threads, requests=5000):
    return Server(["memcached", "-u", "root", "-l", "127.0.0.1", "-p", "{port}", "-t", str(threads)],
                  ["memcslap", "--servers=127.0.0.1:{port}", "--concurrency=8", "--execute-number=%d" % requests,
                   "--test=get"])


def redis(parent, requests=4000):
    return Server(["redis-server", "--port", "{port}", "--save", "", "--dir", "{dir}", "--appendonly", "yes",
                   "--appendfsync", "always"],
                  ["redis-benchmark", "-p", "{port}", "-q", "-n", str(requests), "-c", "4", "-t", "set"], parent)


# name, functions to trace, what is changed, before, after
APPLICATIONS = [
    ("sysbench threads", ["libc:pthread_mutex_lock"], "8 locks instead of 1",
     *(sysbench("threads", "--threads=4", "--thread-yields=100", "--thread-locks=%d" % n, "--time=0",
                "--events=8000") for n in (1, 8))),
    ("sysbench fileio", ["libc:fsync"], "files on a RAM disk", fileio(DISK), fileio(MEMORY)),
    ("sysbench mutex", ["libc:pthread_mutex_lock"], "64 locks instead of 1",
     *(sysbench("mutex", "--threads=4", "--mutex-num=%d" % n, "--mutex-locks=400000", "--mutex-loops=2000")
       for n in (1, 64))),
    ("PostgreSQL", ["libc:fdatasync"], "its files on a RAM disk", Postgres(DISK), Postgres(MEMORY)),
    ("memcached", ["libc:sendmsg"], "2 threads instead of 8", memcached(8), memcached(2)),
    ("redis", ["libc:fdatasync"], "its log on a RAM disk", redis(DISK), redis(MEMORY)),
    ("LevelDB", ["libc:fdatasync", "libc:pthread_cond_wait"], "its files on a RAM disk", LevelDB(DISK),
     LevelDB(MEMORY)),
]


def in_directory(way, work):
    """work(command, options, directory) on a prepared application; the directory is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="ispot-paper-", dir=way.parent) as directory:
        command, options = way.prepare(directory)
        try:
            return work(command, options, directory)
        finally:
            way.finish()


def seconds(way):
    def work(command, _, directory):
        begin = time.monotonic()
        run(command, directory)
        return time.monotonic() - begin
    return in_directory(way, work)


def report(way, patterns):
    return in_directory(way, lambda command, options, directory: Recording(
        patterns, command, options, cwd=directory, whole=True).report["blocks"])


def of_most_lost(blocks):
    """As the first row of the screen: what cannot be judged is not looked at while something can."""
    judged_ones = [b for b in blocks if b["verdict"] == "interference"] or blocks
    return max(judged_ones, key=lambda b: b["lost_threads"] or 0)


def compare(name, patterns, change, before, after, pairs, say):
    """A row: the block that loses most before the change, its scores and the run times, medians."""
    worst, scores, times = None, ([], []), ([], [])
    for number in range(pairs):
        say("applications: %s, pair %d of %d" % (name, number + 1, pairs))
        for side, way in enumerate((before, after)):
            times[side].append(seconds(way))
            blocks = report(way, patterns)
            worst = worst or of_most_lost(blocks)
            scores[side].append(next((b["sci"] for b in blocks if b["name"] == worst["name"]), None))
    return {"name": name, "block": worst["name"], "cause": (worst.get("causes") or [{}])[0].get("kind"),
            "change": change, "sci": middle(scores[0]), "sci_after": middle(scores[1]),
            "seconds": middle(times[0]), "seconds_after": middle(times[1]), **judged(scores, times)}


def middle(values):
    known = [v for v in values if v is not None]
    return statistics.median(known) if known else None


def judged(scores, times):
    """A prediction holds where score and run time both fell in at least four pairs of five."""
    fell = [None not in pair and pair[2] < pair[0] and pair[3] < pair[1]
            for pair in zip(scores[0], times[0], scores[1], times[1])]
    return {"fell": sum(fell), "pairs": len(fell), "holds": 5 * sum(fell) >= 4 * len(fell)}


def measure(applications, pairs, say):
    """The first so many, those that are installed; the names of those that are not; what failed."""
    rows, absent, failures = [], [], []
    for name, patterns, change, before, after in APPLICATIONS[:applications]:
        if not before.installed():
            absent.append(name)
            continue
        try:
            rows.append(compare(name, patterns, change, before, after, pairs, say))
        except Failed as failed:  # the others are measured all the same
            failures.append("%s: %s" % (name, failed))
    return rows, absent, failures
