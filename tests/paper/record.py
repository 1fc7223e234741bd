# SPDX-License-Identifier: GPL-3.0-or-later
"""Recording a program and reading what ispot says about it."""
import csv
import io
import json
import os
import re
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ISPOT = os.environ.get("ISPOT", os.path.join(ROOT, "ispot"))
MICROBENCH = os.path.join(ROOT, "build", "microbench")
WORK = os.path.join(ROOT, "build", "paper")
# Ahead of others on the machine: the session's scheduling group, where there is one, and in it.
AHEAD = '{ echo -20 >/proc/self/autogroup; } 2>/dev/null; exec nice -n -20 "$@"'


class Failed(Exception):
    """A program that must work did not; its last words."""


def run(command, cwd=WORK):
    """A command in a session of its own, ahead of others; its standard output."""
    environment = dict(os.environ, TMPDIR=WORK, LC_ALL="C.UTF-8", PAGER="cat")
    done = subprocess.run(["sh", "-c", AHEAD, "sh", *command],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", cwd=cwd,
                          env=environment, start_new_session=True, check=False)
    if done.returncode:
        raise Failed("%s: status %d: %s" % (" ".join(command), done.returncode,
                                            (done.stderr or done.stdout).strip()[-300:]))
    return done.stdout


class Recording:
    """One run of a program under `ispot record`, and its report."""

    def __init__(self, patterns, command, options=(), name="run", cwd=WORK, whole=False, within=()):
        self.file = os.path.join(WORK, name + ".data")
        arguments = [ISPOT, "record", "-q", "-o", self.file, *options]
        for pattern in patterns:
            arguments += ["-F", pattern]
        self.output = run([*within, *arguments, "--", *command], cwd)
        split = ["--no-key", "*"] if whole else []  # by argument
        self.report = json.loads(run([ISPOT, "report", "--json", *split, "-i", self.file]))

    def block(self, name):
        """The block of that name in the report, or None."""
        kinds = ("function", "marker")
        for block in self.report["blocks"]:
            if block["name"] == name and block["kind"] in kinds and not block.get("key"):
                return block
        return None

    def printed(self, pattern):
        """A number that the program itself printed."""
        match = re.search(pattern, self.output)
        if not match:
            raise Failed("the program did not print " + pattern)
        return float(match.group(1))

    def durations(self, name):
        """All calls' durations of a function, in ns."""
        table = csv.DictReader(io.StringIO(run([ISPOT, "export", "--format", "csv", "-i", self.file,
                                                "-o", "-"])))
        return [int(row["duration_ns"]) for row in table
                if row["function"] == name and row["duration_ns"]]
