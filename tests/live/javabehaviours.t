#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The behaviours of the Iceberg paper (section 4.1) in Java programs that have them: A a slow path, D locality,
# F input and output, G cheap accessors. B, C and E are in javaoutliers.t and java.t.
. "$(dirname "$0")/lib.sh"

for tool in java javac; do command -v $tool >/dev/null || skip_all "no JDK is installed: no $tool"; done
"$ISPOT" record --java -o probe.data true 2>probe.err
grep -q 'built without its Java agent' probe.err && skip_all "ispot was built without a JDK's headers"
javac -d . "$ROOT"/microbench/java/{Accessors,Locality,Variability}.java 2>javac.err || skip_all "javac fails: $(head -1 javac.err)"
"$ISPOT" report --json -i probe.data | jq -r '.notices[]' >limits
grep -q 'context switches are not recorded' limits
switches=$? # 1: they are

# outliers NAME: by the rule that one extreme execution does not move
outliers() { "$ISPOT" outliers --json --rule robust -i "$1.data" >"$1.outliers"; }
# behaviours NAME METHOD: those of the method
behaviours() {
	jq -r --arg m "$2" '[.blocks[] | select(.name | startswith($m)) | .hints[].behaviour | select(. != null)] | unique | join("")' \
		"$1.outliers"
}
# A busy machine hides what an execution did behind its waits for a CPU; of three recordings one shows it.
# shown NAME METHOD BEHAVIOUR OPTIONS... -- COMMAND...
shown() {
	local name=$1 method=$2 behaviour=$3

	shift 3
	for _ in 1 2 3; do
		record "$name" --java -m 4M "$@"
		outliers "$name"
		case $(behaviours "$name" "$method") in *$behaviour*) return 0 ;; esac
	done
	diag "$(behaviours "$name" "$method")" "$name.err"
	return 1
}

# ---- G ----

record accessors --java -m 32M -- java Accessors
is "$("$ISPOT" report --json -i accessors.data | jq .trace.lost_records)" 0 "accessors: nothing is lost"
outliers accessors
for method in get set; do
	like <(behaviours accessors "Accessors.$method(") G "G: $method is a cheap accessor" || diag accessors.outliers
done
unlike <(behaviours accessors 'Accessors.work(') G "G: a method that works is none"
"$ISPOT" report --json -i accessors.data >accessors.json
is "$(jq '[.blocks[] | select(.name | test("^Accessors.[gs]et")) |
	.floor > 0 and (.verdict != "interference" or .causes[0].kind == "cpu-wait")] | all and length == 2' accessors.json)" true \
	"G: what they vary by is not called interference, but where somebody had their CPU" || diag "$(jq -c '.blocks[] | {name, floor, verdict, causes}' accessors.json)"
is "$(jq '.self_cost | .pair_min_ns > 0 and .pair_p50_ns >= .pair_min_ns' accessors.json)" true "G: what the agent costs is measured" ||
	diag "$(jq -c .self_cost accessors.json)"

# ---- D ----

# Where no PMU is, the faults of the pages that an execution is the first to touch stand for its misses: they are exact.
printf '%s\n' 'name standin' 'what page faults for misses' 'serves workload' 'event llc-misses * page-faults' >standin.group
record locality --java -e @standin.group -- java Locality
is "$status" 0 "-e: status" || diag locality.err
outliers locality
is "$(jq -c '[.blocks[].divergent_executions[] | select(.cache_misses >= 512) | .index]' locality.outliers)" \
	"$(awk '$1 == "far" { print $2 }' locality.out | jq -sc .)" "D: the executions that miss are those that do" ||
	diag "$(jq -c '[.blocks[].divergent_executions[] | {index, cache_misses}]' locality.outliers)"
like <(behaviours locality Locality.walk) D "D: outliers says so" || diag locality.outliers
"$ISPOT" report --json -i locality.data >locality.json
is "$(jq '.blocks[] | select(.name | startswith("Locality.walk")) | .counters["llc-misses"] |
	.calls == 1009 and .mean > 25 and .mean_fast < 1 and .mean_slow > 100' locality.json)" true "D: every call counts" ||
	diag "$(jq -c '.blocks[].counters' locality.json)"
named() {
	"$ISPOT" report --json -i locality.data |
		jq -e '[.blocks[].causes[] | select(.kind == "cache-misses") | .evidence[] | test("[0-9] cache misses in a slow call")] | any' >/dev/null
}
# Where others have the CPUs nearly all of the time, what is left is too unlike from call to call for that.
busy() { [ "$("$ISPOT" report --json -i locality.data | jq '[.blocks[].causes[] | select(.kind == "cpu-wait") | .share] | add > 0.8')" = true ]; }
# No miss takes as long as the first touch of a page does in some virtual machines, 5 us and more.
slow() { [ "$("$ISPOT" report --json -i locality.data | jq '.blocks[] | select(.name | startswith("Locality.walk")) | (.p99_ns - .p50_ns) / 512 > 4000')" = true ]; }
if [ $switches = 1 ]; then
	for _ in 1 2 3; do
		named && break
		record locality --java -e @standin.group -- java Locality
	done
	if ! named && slow; then
		skip "D: report names cache misses" "the first touch of a page takes longer here than any miss"
	elif ! named && busy; then
		skip "D: report names cache misses" "the machine is busy: nearly all that varies is waiting for a CPU"
	else
		named
		ok $? "D: report names cache misses"
	fi || diag "$("$ISPOT" report --json -i locality.data | jq -c '.blocks[].causes')"
else
	skip "D: report names cache misses" "no context switches here: running is not told from waiting"
fi
if [ "$("$ISPOT" list --json | jq '[.counters[] | select(.name == "cache-misses" and .usable)] | length')" = 1 ]; then
	shown misses Locality.walk D -e cache-misses -- java Locality
	ok $? "D: by the processor's own counter"
else
	record misses --java -e cache-misses,page-faults,task-clock -- java Locality
	like misses.err 'cache-misses: not counted' "an event that cannot be counted is said"
	is "$("$ISPOT" report --json -i misses.data |
		jq -c '.blocks[0].counters | [.["cache-misses"].mean, .["page-faults"].mean > 25, .["task-clock"].mean_slow > .["task-clock"].mean_fast]')" \
		'[null,true,true]' "it is null, the others count" || diag misses.err
fi
record none --java -- java Locality
is "$("$ISPOT" report --json -i none.data | jq -c '.blocks[0].counters')" '{}' "without -e nothing counts"

# ---- A and F ----

shown slow Variability.fastSlow A -F Variability.fastSlow -F Variability.spin -- java Variability
ok $? "A: what they call and others do not"
if [ $switches = 1 ]; then
	shown network Variability.network F -F Variability.network -- java Variability
	ok $? "F: an answer that comes late"
else
	skip "F: an answer that comes late" "no context switches here"
fi
done_testing
