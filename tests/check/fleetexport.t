#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# `ispot fleet export`: raw samples as other programs read them, zstd and Python's csv, and what they
# count is what the report counts.
. "$(dirname "$0")/lib.sh"

for command in zstd python3 jq; do
	command -v $command >/dev/null && continue
	skip "raw samples" "no $command here"
	exit
done
work=$planted/fleetexport
mkdir "$work"
cd "$work" || exit 1
fleet() { "$ISPOT" fleet "$@"; }

fleet simulate -o some --machines 4 --samples 400000 --seed 4 --applications 14 --interferers 4 >/dev/null
fleet reduce --db some.db some/*.fleet >/dev/null
fleet report --db some.db --json >some.json
ok "export" fleet export -o some.csv.zst some/*.fleet

# Of each application how many samples, their mean, and whether samples of a CPU follow each other.
read_by_others() {
	zstd -dcq some.csv.zst | python3 -c '
import csv, json, sys
n, total, ends, machines = {}, {}, {}, set()
for row in csv.DictReader(sys.stdin):
    machines.add(row["machine"])
    if row["value"] == "":
        continue
    app, start, end = row["application"], int(row["start_ns"]), int(row["end_ns"])
    n[app] = n.get(app, 0) + 1
    total[app] = total.get(app, 0) + int(row["value"])
    key = row["recording"], row["sequence"], row["cpu"]
    if start < ends.get(key, 0) or end <= start:
        print("a sample of", key, "begins before the one before it ends")
    ends[key] = end
    if not (0 <= int(row["core"]) and int(row["cpu"]) < 24 and row["type"] == "simulated-24"):
        print(row)
report = json.load(open("some.json"))
if len(machines) != report["fleet"]["machines"] or sum(n.values()) != report["fleet"]["samples"]:
    print(len(machines), sum(n.values()))
want = {a["name"]: (a["samples"], a["mean"]) for a in report["applications"]}
if {a: n[a] for a in n} != {a: want[a][0] for a in want}:
    print(n, want)
for a in want:
    if abs(total[a] / n[a] / want[a][1] - 1) > 1e-12:
        print(a, total[a] / n[a], want[a][1])
'
}
holds "zstd and Python read what the report counts" read_by_others
ok "to standard output" cmp -s some.csv.zst <(fleet export -o - some/*.fleet)
head -c 400000 some/machine00001.fleet >cut.fleet
ok "a file that is cut off is said" loud "ends inside of a block" fleet export -o cut.csv.zst cut.fleet
ok "and what is sound is there" test "$(zstd -dcq cut.csv.zst | wc -l)" -gt 100
ok "a name without -o" loud "name them, and -o OUT" fleet export some/machine00001.fleet
