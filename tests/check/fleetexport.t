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
# Everything that the report says of pairs, applications and machines, computed again from the raw samples: who
# ran for the whole of a sample (section III-C of the paper), classes, medians, shares, gains, figures 1 and 2.
fleet simulate -o few --machines 2 --samples 60000 --seed 6 --applications 6 --interferers 2 >/dev/null
fleet reduce --db few.db few/*.fleet >/dev/null
fleet report --db few.db --min-samples 100 --json >few.json
fleet export -o few.csv.zst few/*.fleet
computed_again() {
	zstd -dcq few.csv.zst | python3 -c '
import bisect, collections, csv, json, statistics, sys
report = json.load(open("few.json"))
blocks = collections.defaultdict(lambda: collections.defaultdict(list))
place = {}
for row in csv.DictReader(sys.stdin):
    cpu = int(row["cpu"])
    place[cpu] = row["core"], row["cache"], row["socket"]
    blocks[row["recording"], row["sequence"]][cpu].append(
        (int(row["start_ns"]), int(row["end_ns"]), row["application"], int(row["value"] or -1)))
def kind(a, b):
    (core, cache, socket), (core2, cache2, socket2) = place[a], place[b]
    return "other" if socket != socket2 else "core" if core == core2 else "cache" if cache == cache2 else "socket"
def runs_of(samples):
    runs = []
    for start, end, app, _ in samples:
        if runs and runs[-1][1] == start and runs[-1][2] == app:
            runs[-1][1] = end
        else:
            runs.append([start, end, app])
    return runs
values, pairs, alone, crowds = collections.defaultdict(list), collections.defaultdict(list), 0, [collections.Counter(), collections.Counter()]
for tracks in blocks.values():
    runs = {cpu: runs_of(samples) for cpu, samples in tracks.items()}
    starts = {cpu: [r[0] for r in of] for cpu, of in runs.items()}
    for cpu, samples in tracks.items():
        for start, end, app, value in samples:
            if value < 0: # it was there, and no more is known
                continue
            beside = set()
            for other, of in runs.items():
                i = bisect.bisect_right(starts[other], start) - 1
                if other != cpu and i >= 0 and of[i][1] >= end:
                    beside.add((of[i][2], kind(cpu, other)))
            alone += not beside
            values[app].append(value)
            for corunner in beside:
                pairs[(app,) + corunner].append(value)
    changes = sorted((at, by, cpu, run[2]) for cpu, of in runs.items() for run in of for at, by in ((run[0], 1), (run[1], -1)))
    busy, apps, before = collections.Counter(), collections.Counter(), changes[0][0]
    for at, by, cpu, app in changes:
        for crowd, of in zip(crowds, (busy, apps)):
            crowd[sum(n > 0 for n in of.values())] += at - before
        before = at
        busy[cpu] += by
        apps[app] += by
def differ(what, got, want, by):
    if got is None or abs(got - want) > by * abs(want):
        print(what, got, "and not", want)
said = {(p["base"], p["corunner"], p["class"]): p for p in report["pairs"]}
if {k: len(v) for k, v in pairs.items()} != {k: p["samples"] for k, p in said.items()}:
    print("samples of pairs differ")
if report["fleet"]["samples_alone"] != alone:
    print("alone", alone)
apps, told = {a["name"]: a for a in report["applications"]}, 0
for name, of in values.items():
    a, of = apps[name], sorted(of)
    differ(name, a["deviation"], statistics.pstdev(of), 1e-6)
    differ(name, a["noise"], a["deviation"] / a["median"], 1e-9)
    for key, at in ("p1", .01), ("p10", .1), ("p25", .25), ("median", .5), ("p75", .75), ("p90", .9), ("p99", .99):
        differ((name, key), a[key], of[int(at * len(of))], 1 / 32)
for key, of in pairs.items():
    p, usual = said[key], apps[key[0]]
    differ(key, p["share"], len(of) / len(values[key[0]]), 1e-9)
    if len(of) < 100:
        if p["effect"] != "too-few-samples" or p["median"] is not None:
            print(key, "says", p)
        continue
    told += 1
    differ(key, p["median"], statistics.median(of), 1 / 32)
    differ(key, 1 + p["change"], p["median"] / usual["median"], 1e-9)
    differ(key, 1 + p["deviations"], 1 + p["change"] / usual["noise"], 1e-9)
    differ(key, 1 + p["improvement"], (usual["median"] - p["share"] * p["median"]) / (1 - p["share"]) / usual["median"], 1e-9)
if told < 30:
    print("only", told, "pairs")
for crowd, key in zip(crowds, ("busy_cpus", "applications_at_once")):
    got, all_ns, half = report["fleet"][key], sum(crowd.values()), 0
    crowd = {n: ns for n, ns in crowd.items() if ns}
    differ(key, got["mean"], sum(n * ns for n, ns in crowd.items()) / all_ns, 1e-9)
    if {s["number"] for s in got["shares"] if s["share"]} != set(crowd) or got["most"] != max(crowd):
        print(key, got, crowd)
    for s in got["shares"]:
        differ((key, s["number"]), s["share"], crowd.get(s["number"], 0) / all_ns, 1e-9)
    if not sum(ns for n, ns in crowd.items() if n < got["median"]) < all_ns / 2 <= sum(ns for n, ns in crowd.items() if n <= got["median"]):
        print(key, "median", got["median"])
'
}
holds "and say of pairs, applications and machines what the report says" computed_again
ok "to standard output" cmp -s some.csv.zst <(fleet export -o - some/*.fleet)
head -c 400000 some/machine00001.fleet >cut.fleet
ok "a file that is cut off is said" loud "ends inside of a block" fleet export -o cut.csv.zst cut.fleet
ok "and what is sound is there" test "$(zstd -dcq cut.csv.zst | wc -l)" -gt 100
ok "a name without -o" loud "name them, and -o OUT" fleet export some/machine00001.fleet
