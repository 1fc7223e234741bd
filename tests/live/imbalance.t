#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Parallel sections of programs whose slow thread is known.
. "$(dirname "$0")/lib.sh"
needs_probes

# section FILE FILTER: of the section that loses most
section() { jq -r ".sections[0] | $2" "$1"; }

# Three threads, of which the last sleeps in each round for much longer than any of them works.
record barrier -F pthread_barrier_wait -- "$MB/barrier" -n 53 -d 20000
"$ISPOT" imbalance --json -i barrier.data >barrier.json
is "$(section barrier.json '"\(.kind) \(.instances) \(.threads | length)"')" "barrier 53 3" \
	"every round is an instance"
line=$(grep -n 'pthread_barrier_wait(&barrier)' "$ROOT/microbench/barrier.c" | cut -d: -f1)
# The first round's begin is not the barrier.
is "$(section barrier.json '.name | test("barrier.c:'"$line"'\\)$")')" true "it ends where the barrier is"
# Two of three threads idle for most of it.
# On a busy machine others are late too, for a turn at times.
is "$(section barrier.json '.imbalance > 0.4 and .imbalance < 0.667')" true "threads idle for about two thirds of it" ||
	diag barrier.json
is "$(section barrier.json '.worst_share > 0.6')" true "the same thread comes last" || diag barrier.json
slow=$(section barrier.json '[.threads[].tid] | max')
worst=$(section barrier.json .worst)
is "$(section barrier.json ".threads[] | select(.number == $worst) | .tid")" "$slow" "the last one made"

# Its threads meet at a barrier: making and joining them is no section besides.
record join -F pthread_join -F pthread_barrier_wait -- "$MB/barrier" -n 23 -d 5000
"$ISPOT" imbalance --json -i join.data >join.json
is "$(jq '[.sections[] | select(.kind == "join")] | length' join.json)" 0 "threads that meet at a barrier are no join section"

# Threads that are made and joined, of a program without a barrier.
record mutex -F pthread_join -- "$MB/mutex" -n 10007
"$ISPOT" imbalance --json -i mutex.data >mutex.json
is "$(section mutex.json '"\(.kind) \(.instances)"')" "join 1" "threads made and joined are a section"

done_testing
