#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Two hot functions that know nothing of each other: in 19 of 20 runs neither is named as the other's
# interferer. And whoever takes the CPU is: another process, by its name.
. "$(dirname "$0")/lib.sh"
needs_probes

named=0
for run in $(seq 20); do
	record run -F left_work -F right_work -- "$MB/strangers" -s "$run"
	report run
	[ "$status" = 0 ] || diag run.err
	[ "$(block run left_work '.coactive | type')" = array ] || break # too few calls to compare
	jq -c '.blocks[] | select(.kind == "function") | .name as $n | .coactive[] | select(.part != "cpu") | [$n, .]' \
		run.json >strangers
	if [ -s strangers ]; then
		named=$((named + 1))
		diag strangers
	fi
done
is "$run" 20 "their calls were compared in 20 runs"
[ "$named" -le 1 ]
ok $? "$named of 20 runs name one of two strangers"
matches_truth run calls

# One CPU for a thread and a hog: it has it while calls wait.
sh -c 'while :; do :; done' &
hog=$!
children+=("$hog")
cpu=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
taskset -cp "$cpu" $hog >/dev/null
record hog -F crunch -- taskset -c "$cpu" "$MB/oversubscription" -t 1 -n 307
"$ISPOT" dump -i hog.data >hog.dump
# The hog, and on a busy machine others; who has ended since need not have a name.
awk '$4 == "switch-out" && $5 == "preempted" { sub(/.*\//, "", $6); if ($6) print $6 }' hog.dump | sort -u |
	while read -r pid; do [ ! -e "/proc/$pid" ] || echo "$pid"; done >had
sed -n 's/^{"kind":"process","pid":\([0-9]*\),"comm":"..*/\1/p' hog.dump | sort -u >named
if [ -s had ]; then
	is "$(comm -23 had named | paste -sd' ')" "" "each process that had its CPU is named" || diag hog.dump
else
	skip "each process that had its CPU is named" "only such had it as have ended"
fi
kill $hog

done_testing
