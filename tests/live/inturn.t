#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Threads of which each has ended when the next one is made are one section, by whoever counts: the same
# threads, the last one the slowest, where the program waits for them, and the line to blame.
. "$(dirname "$0")/edges/lib.sh"
needs_command jq valgrind
needs_counting in_turn
LINE=$(grep -n 'pthread_join' "$ROOT/microbench/in_turn.c" | cut -d: -f1)
PLANTED=$(grep -n 'planted: in turn' "$ROOT/microbench/in_turn.c" | cut -d: -f1)

# found FILE: kind, place, instances, slowest thread, threads' numbers
found() {
	jq -c '[.sections[] | [.kind, (.name | split("/") | last), .instances, .worst, [.threads[].number]]]' "$1"
}
is_section() { # is_section FILE ROUNDS NAME
	is "$(found "$1")" "[[\"join\",\"in_turn.c:$LINE)\",$2,5,[0,1,2,3,4,5]]]" "$3" || diag "$1"
}

for rounds in 1 3; do
	"$ISPOT" imbalance --count callgrind --json -- "$MB/in_turn" -n $rounds >callgrind.json 2>err || diag err
	is_section callgrind.json $rounds "callgrind, rounds: $rounds"
	is "$(jq -c '.sections[0].causes[0] | [.line, (.counts | map(. / .[0]? // .) | length)]' callgrind.json)" "[$PLANTED,6]" \
		"the line to blame" || diag callgrind.json
	is "$(jq -c '.sections[0].causes[0].counts | [.[:5][] == .[0], .[5] > 5 * .[0]] | unique' callgrind.json)" "[true]" \
		"each thread has its own counts" || diag callgrind.json
	count edges "$ROOT/build/edges/in_turn" --length 100 -n $rounds
	is_section edges.json $rounds "edges, rounds: $rounds"
	is "$(jq -c '.sections[0].causes[0].counts == $counts' --argjson counts \
		"$(jq -c '.sections[0].causes[0].counts' callgrind.json)" edges.json)" true "and its counts are callgrind's" || {
		diag callgrind.json
		diag edges.json
	}
done

# Threads of C11 and of C++ are made by pthread_create(), and the program waits where it says.
cat >eleven.c <<-'EOC'
	#include <threads.h>
	static volatile unsigned long sink[3 * 16];
	static int run(void *arg)
	{
		for (unsigned long i = 0; i < 20000 + 50000 * (long)arg; i++)
			sink[16 * (long)arg] += i;
		return 0;
	}
	int main(void)
	{
		thrd_t t[3];
		for (long i = 0; i < 3; i++)
			thrd_create(&t[i], run, (void *)i);
		for (int i = 0; i < 3; i++)
			thrd_join(t[i], 0);
	}
EOC
cat >plus.cc <<-'EOC'
	#include <thread>
	static volatile unsigned long sink[3 * 16];
	int main()
	{
		std::thread t[3];
		for (long i = 0; i < 3; i++)
			t[i] = std::thread([i] {
				for (long k = 0; k < 20000 + 50000 * i; k++)
					sink[16 * i] = sink[16 * i] + k;
			});
		for (auto &thread : t)
			thread.join();
	}
EOC
COUNTING=(-fsanitize-coverage=trace-pc -L"$ROOT/build" -lispot-edges)
made_by() { # made_by FILE LANGUAGE COMPILER
	local line
	command -v "$3" >/dev/null || {
		skip "$2, callgrind" "no $3 here"
		skip "$2, edges" "no $3 here"
		return
	}
	line=$(grep -nE 'join\(' "$1" | cut -d: -f1)
	{ "$3" -g -O1 -pthread "$1" -o plain && "$3" -g -O1 -pthread "$1" -o counting "${COUNTING[@]}"; } 2>cc.err ||
		diag cc.err
	"$ISPOT" imbalance --count callgrind --json -- ./plain >made.json 2>err || diag err
	# callgrind numbers threads as they begin, which may be in another order than they are made
	is "$(found made.json | jq -c 'map(del(.[3]))') $(jq -c '.sections[0] | .causes[0].counts as $counts |
		$counts[.worst] == ($counts | max)' made.json)" "[[\"join\",\"${1}:$line)\",1,[0,1,2]]] true" \
		"$2, callgrind" || diag made.json
	# The slowest is told by time here: a thread that is put off its CPU may be, so three tries.
	for _ in 1 2 3; do
		count made ./counting
		[ "$(found made.json | jq '.[0][3]')" != 2 ] || break
	done
	is "$(found made.json)" "[[\"join\",\"${1}:$line)\",1,2,[0,1,2]]]" "$2, edges" || diag made.json
}
made_by eleven.c C11 gcc
made_by plus.cc C++ g++

# Recorded, the calls that wait have no record: the kernel's words tell who is waited for.
if [ "$(id -u)" = 0 ] && "$ISPOT" record -q -o try.data -F main -- true >try 2>&1; then
	for rounds in 1 3; do
		record turns -- "$MB/in_turn" --length 1000 -n $rounds
		"$ISPOT" imbalance --json -i turns.data >turns.json
		is_section turns.json $rounds "recorded, rounds: $rounds"
	done
else
	skip "recorded, rounds: 1" "nothing can be recorded here"
	skip "recorded, rounds: 3" "nothing can be recorded here"
fi

done_testing
