#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A hot function that does nothing reads as noise: on 1, 2 and 4 threads beside a process that hogs
# a CPU, in 20 runs of 20, and without one in 3 of 3. A run during which the machine itself became slower, which a loop of the
# program's tells that has no probe, is made again, and that is told.
. "$(dirname "$0")/lib.sh"
needs_probes

# The machine's: half of the turns of a loop without a probe took a tenth longer than others, or more.
unsteady() { awk '/^machine steady=/ { split($2, v, "="); exit v[2] < 1.1 }' "$name.out"; }

for run in $(seq 23); do
	threads=$(((run % 3 == 0) + 2 * (run % 3 == 1) + 4 * (run % 3 == 2)))
	hogs=$((run <= 20))
	name="run$run"
	for _ in 1 2 3; do
		record "$name" -F empty_call -- "$MB/empty" -n 100003 -t $threads --hogs $hogs --steady 1
		report "$name"
		if [ "$(block "$name" empty_call .verdict)" = noise ] || ! unsteady; then
			break
		fi
		echo "# run $run again: the machine's speed was not the same throughout"
	done
	is "$(block "$name" empty_call .verdict)" noise "run $run: $threads threads, $hogs hogs" ||
		diag "sci $(block "$name" empty_call .sci), floor $(block "$name" empty_call .floor)"
	is "$(block "$name" empty_call .calls)" 100003 "run $run: calls"
	rm -f "$name".*
done

# The other classes of probes, which are cheaper: their floors are smaller, too. The machine may spoil one.
of_others() {
	local function threads
	for function in entry_nop5 entry_push; do
		for threads in 1 1 2 2 4 4; do
			record other -F $function -- "$MB/entry_classes" --only $function -n 100003 -t $threads
			report other
			echo "$(block other $function .verdict) $function $threads threads" \
				"$(block other $function .sci) $(block other $function .floor)" \
				"$(jq --arg f $function '.self_cost.pair_min_ns as $least | .blocks[]
					| select(.name == $f) | .excess_ns / .calls / $least' other.json)"
		done
	done
}
of_others >others
sed 's/^/# /' others # verdict, function, threads, sci, floor, what its mean is beyond its fastest, in fastest empty calls
[ "$(grep -c ^noise others)" -ge 11 ]
ok $? "other classes of probes: noise in 11 runs of 12"
done_testing
