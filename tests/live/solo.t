#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# record --solo: what threads do to each other without a pause shows against calls that had no other thread beside
# them; and in whatever way the recording ends, every thread may use what it could before.
. "$(dirname "$0")/lib.sh"
needs_probes
[ "$(nproc)" -ge 2 ] || skip_all "it takes two CPUs to disturb each other on"

# shared: threads met each other in one cache line, which the program's slow calls show; of another's CPU time
# nothing is to be learnt, so ahead of it, and more than once if need be
by=ahead
shared() {
	record solo --solo -F bump_counter -- "$MB/false_sharing" --pause 0 -n 24000 && report solo &&
		[ "$(block solo bump_counter '.causes[0].kind')" = concurrency ]
}
tries=5
until shared || [ $((tries -= 1)) -eq 0 ]; do :; done
by=
is "$status" 0 "status" || diag solo.err
[ "$(trace solo .solo.windows)" -ge 1 ]
ok $? "there were windows" || diag "$(trace solo .solo)"
[ "$(block solo bump_counter .solo.calls)" -ge 20 ]
ok $? "calls ran undisturbed in them" || diag "$(block solo bump_counter .solo)"
# What the median call takes says whether threads met at all: on two hyperthreads of one core, or where others
# have the CPUs, the line does not travel.
if [ "$(block solo bump_counter '| .p50_ns > 2 * .solo.own_mean_ns')" = true ]; then
	is "$(block solo bump_counter '| [.causes[].kind] | index("concurrency") != null')" true "what the others do to them is a cause" ||
		diag "$(block solo bump_counter .causes)"
	[ "$(block solo bump_counter '| .sci >= .solo.sci_without')" = true ]
	ok $? "without the windows the score is no higher"
else
	skip "threads did not disturb each other here" "what the others do to them is a cause"
	skip "threads did not disturb each other here" "without the windows the score is no higher"
fi

# allowed PID: the CPUs of each of its threads
allowed() { cat /proc/"$1"/task/*/status 2>/dev/null | awk '$1 == "Cpus_allowed_list:" { print $2 }' | sort | uniq -c; }
is_as_before() { [ "$(allowed "$target")" = "$before" ]; }
in_window() { ! is_as_before; }
# until_window: in the middle of one, as far as can be seen from outside
until_window() {
	local deadline=$((SECONDS + 60))
	until in_window; do
		[ $SECONDS -lt $deadline ] || return 1
	done
}

"$MB/false_sharing" --pause 0 -n 1000000000 >target.out 2>&1 &
target=$!
children+=("$target")
started "$target" false_sharing
three_threads() { [ "$(find "/proc/$target/task" -mindepth 1 -maxdepth 1 | wc -l)" = 3 ]; }
eventually three_threads
# One has an affinity of its own: what the threads may use in common is its CPU.
own=$(awk '$1 == "Cpus_allowed_list:" { split($2, a, /[-,]/); print a[1] }' /proc/self/status)
taskset -p -c "$own" "$(find "/proc/$target/task" -mindepth 1 -maxdepth 1 -printf '%f\n' | sort -n | tail -1)" >/dev/null
before=$(allowed "$target")

record normal --solo -d 2 -F bump_counter -p "$target"
is "$status" 0 "attached: status" || diag normal.err
is_as_before
ok $? "attached: affinities are as before" || diag "$(allowed "$target")"
report normal
[ "$(trace normal .solo.windows)" -ge 1 ]
ok $? "attached: there were windows"
[ "$(jq '[.blocks[] | select(.name == "bump_counter")] | length' normal.json)" -ge 1 ]
ok $? "attached: there were calls"

no_keeper() { ! pgrep -g 0 -x ispot-solo >/dev/null; }
for signal in INT TERM KILL; do
	"$ISPOT" record --solo -o ended.data -d 60 -F bump_counter -p "$target" >ended.out 2>ended.err &
	recorder=$!
	children+=("$recorder")
	until_window
	ok $? "SIG$signal: a window opens" || diag ended.err
	kill -$signal $recorder
	wait $recorder 2>/dev/null
	eventually is_as_before
	ok $? "SIG$signal: affinities are as before" || diag "$(allowed "$target")"
	eventually no_keeper
	ok $? "SIG$signal: nothing is left of it"
done

# The keeper is killed in a window: the recorder takes its place.
"$ISPOT" record --solo -o kept.data -d 60 -F bump_counter -p "$target" >kept.out 2>kept.err &
recorder=$!
children+=("$recorder")
until_window
kill -KILL "$(pgrep -P $recorder -x ispot-solo)"
eventually is_as_before
ok $? "without its keeper: affinities are as before" || diag "$(allowed "$target")"
kill -INT $recorder
wait $recorder
kill "$target"

# Threads and processes that are born in a window, all the time, and who are left.
"$MB/spawner" --seconds 300 >/dev/null 2>&1 &
target=$!
children+=("$target")
started "$target" spawner
all=$(awk '$1 == "Cpus_allowed_list:" { print $2 }' "/proc/$target/status")
record born --solo -d 3 -p "$target" -F spawned_call
# stuck: a thread of the family that may use less than it could
stuck() {
	for pid in "$target" $(pgrep -P "$target"); do
		cat /proc/"$pid"/task/*/status 2>/dev/null
	done | awk '$1 == "Cpus_allowed_list:" { print $2 }' | grep -vxF "$all"
}
none_is_stuck() { ! stuck >/dev/null; }
eventually none_is_stuck
ok $? "threads and processes born in windows may use all CPUs" || diag "$(stuck)"
kill "$target"

done_testing
