#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Who gets and leaves the CPUs: no thread leaves one that it did not get, though some kernels tell of no switch away
# from certain threads of theirs; and who has the CPUs that threads wait for is who has them by `perf sched timehist`
# of the same run. Who gives a CPU up is told from who is preempted.
. "$(dirname "$0")/lib.sh"
needs_probes

# unpaired NAME: of the switches how many leave a CPU, or get one, twice in a row
unpaired() {
	"$ISPOT" dump --events -i "$1.data" | awk '
		$4 ~ /^switch-/ { split($3, task, "/"); bad += latest[task[1]] == $4; latest[task[1]] = $4; n++ }
		END { print bad + 0, n + 0 }'
}

record mutex -F pthread_mutex_lock -- "$MB/mutex" -n 20000
is "$status" 0 "mutex: status" || diag mutex.err
read -r bad n < <(unpaired mutex)
report mutex
# The record between two of a kind may be among those that were lost.
if [ "$(trace mutex .lost_records)" = 0 ]; then
	[ "$n" -gt 100 ] && [ "$bad" = 0 ]
	ok $? "mutex: none of $n switches is a second one of its kind" || diag "$bad are"
else
	skip "mutex: no switch is a second one of its kind" "records were lost"
fi

# Two processes on one CPU give it up to each other.
by="taskset -c 0" record yields -F main -- python3 -c '
import os
os.fork()
for i in range(20000): os.sched_yield()'
is "$status" 0 "yields: status" || diag yields.err
n=$("$ISPOT" dump --events -i yields.data | grep -c 'switch-out yielded')
[ "$n" -gt 10 ]
ok $? "yields: who gives up the CPU is not taken for preempted" || diag "$n of 40000 calls are told"

# What a switch costs is measured with threads that yield to each other, and is not the cost of what they call for
# that, which may be traced.
switch_cost() { # switch_cost NAME PATTERN: ns, 0 if the measurement was cut short; -1 without a line on it
	by="env -u ISPOT_CALIBRATION" record "$1" -v -F "$2" -- "$MB/mutex" -n 2000
	is "$status" 0 "$1: status" || diag "$1.err"
	switch_ns=$(sed -n 's/.*of threads with events to be inherited \([0-9]*\) ns more/\1/p' "$1.err" | tail -1)
	switch_ns=${switch_ns:--1}
}

call_cost() { # call_cost NAME: of a traced call of the recording's function
	class=$("$ISPOT" dump -i "$1.data" | sed -n 's/.*"kind":"function".*"name":"'"$1"'".*"class":"\([^"]*\)","exit":"\([^"]*\)".*/"class":"\1","exit":"\2"/p' | head -1)
	call_ns=$("$ISPOT" dump -i "$1.data" | grep '"kind":"calibration"' | grep -F "$class" | sed -n 's/.*"full_p50_ns":\([0-9]*\).*/\1/p' | head -1)
}

switch_cost main main
untraced_ns=$switch_ns
for name in sched_yield syscall clock_gettime; do
	switch_cost $name "libc.so.6:$name"
	call_cost $name
	if [ "$switch_ns" = 0 ] || [ "$untraced_ns" = 0 ]; then
		skip "$name: a switch does not cost what a traced call of it does" "no measurement was long enough"
	elif [ $name = clock_gettime ]; then # called now and then only
		for _ in 1 2; do # on a loud machine both are measured again, one after the other
			[ "$switch_ns" -lt $((3 * untraced_ns)) ] && break
			switch_cost main main
			untraced_ns=$switch_ns
			switch_cost $name "libc.so.6:$name"
		done
		if [ "$switch_ns" = 0 ] || [ "$untraced_ns" = 0 ]; then
			skip "$name: a switch costs what it costs when others are traced" "no measurement was long enough"
			continue
		fi
		[ "$switch_ns" -gt 0 ] && [ "$switch_ns" -lt $((3 * untraced_ns)) ]
		ok $? "$name: a switch costs what it costs when others are traced" || diag "$switch_ns ns and $untraced_ns ns"
	elif [[ $class == *single-step* ]]; then
		[ "$switch_ns" -gt 0 ] && [ $((4 * switch_ns)) -lt "$call_ns" ]
		ok $? "$name: a switch does not cost what a traced call of it does" || diag "$switch_ns ns and $call_ns ns"
	else
		skip "$name: a switch does not cost what a traced call of it does" "a traced call of it is as cheap as a switch here"
	fi
done

# Half of the program's threads' waits are for each other, the rest for a busy neighbour and for what else runs.
perf_here() { command -v perf >/dev/null && perf sched timehist -h 2>&1 | grep -q -- --state; }
EVENTS=sched:sched_switch,sched:sched_waking,sched:sched_wakeup,sched:sched_wakeup_new,sched:sched_migrate_task

busy_neighbour() {
	sh -c 'while :; do :; done' &
	neighbour=$!
	children+=("$neighbour")
}

both() { # both NAME: recorded by ispot inside a recording of perf's
	perf record -q -k CLOCK_MONOTONIC -m 8M -a -e "$EVENTS" -o "$1.perf" -- \
		"$ISPOT" record -o "$1.data" -F crunch -- "$MB/oversubscription" -n 1500 >"$1.out" 2>"$1.err" || return
	! perf report -i "$1.perf" --stats 2>/dev/null | grep -q 'LOST'
}

# judge STATUS NAME DIAGNOSTIC: one result of this try
judge() {
	[ "$1" = 0 ] || agreed=
	results+=("$@")
}

compare_parts() {
	local who want got all
	"$ISPOT" dump --events -i owners.data >owners.dump
	perf sched timehist --state -i owners.perf >owners.hist 2>/dev/null
	read -r _ ready _ program _ other _ idle < <(awk -f "$ROOT/tests/live/owners.awk" owners.dump owners.hist)
	report owners
	all=$(trace owners '.ready_behind | map(.ns) | add')
	agreed=yes results=()
	within "$all" "$ready+-$((ready / 10))"
	judge $? "threads are as long without a CPU as perf says" "ispot: $all ns, perf: $ready ns"
	for who in program other idle; do
		got=$(trace owners ".ready_behind | map(select(.who == \"$who\" or (\"$who\" == \"other\" and .who == \"recorder\")) | .ns)
			| (add // 0) * 100 / $all | round")
		want=$((100 * ${!who} / (program + other + idle)))
		within "$got" "$want+-6"
		judge $? "of it behind $who: $got%, by perf $want%" "$(trace owners '.ready_behind | group_by(.who)[] | [.[0].who, (map(.ns) | add)] | @text')"
	done
}

# perf and ispot do not begin and end at the same moment: on a loud machine what is between them may be much.
agreed='' results=()
if perf_here; then
	busy_neighbour
	for _ in 1 2 3; do
		both owners && compare_parts
		[ -z "$agreed" ] || break
	done
	kill "$neighbour"
	[ ${#results[@]} -gt 0 ] || skip "owners of the CPUs" "perf recorded nothing, or lost some: $(tail -1 owners.err)"
	for ((i = 0; i < ${#results[@]}; i += 3)); do
		ok "${results[i]}" "${results[i + 1]}" || diag "${results[i + 2]}"
	done
else
	skip "owners of the CPUs" "no perf with sched timehist here"
fi

done_testing
