# SPDX-License-Identifier: GPL-3.0-or-later
# promises.py MANUAL TABLE: each sentence of ispot(1)'s SECURITY CONSIDERATIONS has a row in the table that names the
# tests that hold it, and these are there. Prints what is not so; -l: prints the sentences.
import os
import re
import subprocess
import sys


def sentences(manual):
    text = subprocess.run(["mandoc", "-T", "utf8", "-O", "width=900", manual], capture_output=True, text=True).stdout
    text = re.sub(r".\x08", "", text)
    section = re.search(r"^SECURITY CONSIDERATIONS\n(.*?)^\S", text, re.S | re.M).group(1)
    section = re.sub(r"^ {3}\S.*$", "", section, flags=re.M)  # the headings
    for paragraph in section.split("\n\n"):
        paragraph = " ".join(paragraph.split())
        for s in re.split(r"(?<=[.:]) (?=[A-Z])|(?<=\.) (?=ispot |debuginfod)", paragraph):
            if s:
                yield s


def main():
    if sys.argv[1] == "-l":
        print("\n".join(sentences(sys.argv[2])))
        return
    rows = {}
    for line in open(sys.argv[2], encoding="utf-8"):
        if line.startswith("#"):
            continue
        sentence, tests = line.rstrip("\n").split("\t")
        rows[sentence] = tests
    said = list(sentences(sys.argv[1]))
    for s in said:
        if s not in rows:
            print(f"no test is named for: {s}")
    for s, tests in rows.items():
        if s not in said:
            print(f"the manual does not say: {s}")
        if tests.startswith("advice:"):
            continue
        for test in tests.split("; "):
            file, _, words = test.partition(" | ")
            if not os.path.exists(file):
                print(f"there is no {file}: {s}")
            elif words and words not in open(file, encoding="utf-8").read():
                print(f"{file} does not test '{words}': {s}")


main()
