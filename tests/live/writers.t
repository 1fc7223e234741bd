#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A queue of writers as LevelDB's, each with a condition variable of its own, beside a parked pool: the
# report leads with the queue and says who waits, for whom and from where; the pool is idle.
. "$(dirname "$0")/lib.sh"
needs_probes
needs_helper writers
WRITERS=$HELPERS/writers

# The paragraph of the report, on one line.
paragraph() { COLUMNS=80 "$ISPOT" report -i "$1.data" | tr -s ' \n' ' ' | sed 's/ LOST TIME .*//'; }

by=ahead

# told NAME REGEX RECORD-ARGS...: its paragraph, of a recording in which other programs did not take the
# CPUs for most of the time
told() {
	local name=$1 words=$2
	for _ in 1 2 3; do
		record "$name" "${@:3}"
		paragraph "$name" >"$name.told"
		grep -Eq "$words" "$name.told" && break
	done
	report "$name"
	is "$status" 0 "$name: status" || diag "$name.err"
	if grep -qE "[Ww]ait(ing|s) for a CPU" "$name.told"; then
		skip "$name: the paragraph" "other programs had the CPUs"
	elif grep -q "are too few to judge" "$name.told"; then
		skip "$name: the paragraph" "threads had the CPUs one after the other: hardly any had to wait"
	else
		like "$name.told" "$words" "$name: the paragraph"
	fi
	# a wait of before the probes came on would be more than there was time for
	is "$(jq '[.blocks[] | select(.lost_threads > .threads + 0.01) | .name] | length' "$name.json")" 0 \
		"$name: nothing loses more threads than it has"
}

told queue "(condition variable|other threads) in Db::put(\(\))?.* Why [0-9]+% of its lost time is (condition variable|queue of threads).* Woken by another thread in it" \
	-F Db::put -F Log::append -- "$WRITERS"
matches_truth queue calls
nothing_lost queue
is "$(first_cause queue "Db::put()" condition-wait)" condition-wait "those behind in the queue wait for a signal"
is "$(jq '[.blocks[] | select(.verdict == "idle" and .idle_threads > 3)] | length > 0' queue.json)" true \
	"the pool is idle" || diag "$(jq -c '.blocks[] | [.name, .verdict, .idle_threads]' queue.json)"

# Very many that park at once: each sleep has its place, with a stack or by its futex. One or the other may
# find the pool's mutex taken first.
record parked -F Db::put -- "$WRITERS" 2 601 150
report parked
slept=$(jq '[.blocks[] | select(.verdict == "idle" and (.name | test("Pool::park"))) | .calls] | add' parked.json)
[ "$(jq -n "(${slept:-0}) >= 140")" = true ]
ok $? "the sleeps of a pool of 150" || diag "${slept:-none}"

# Whoever waits in a library's function is told by who called it.
told callers "(condition variable|other threads) in pthread_cond_wait( 0x[0-9a-f]+)?( \([^)]*\))?, called (from|under) Db::put(\(\))?" \
	-F pthread_cond_wait -- "$WRITERS" 3 901

# Nothing said: functions are chosen while it runs.
told chosen "(Waiting on a condition variable|Queueing behind other threads)" -- "$WRITERS" 6 2001

done_testing
