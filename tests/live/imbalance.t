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

# waited_for NAME THREADS PROGRAM...: one section, of those threads, which ends in the program, recorded with the
# functions that $named names, or none
waited_for() {
	command -v "$3" >/dev/null || {
		skip "$1: the threads that it makes and waits for are a section" "no $3 here"
		return
	}
	record "$1" ${named:+-F "$named"} -- "${@:3}"
	"$ISPOT" imbalance --json -i "$1.data" >"$1.json"
	is "$(jq -c '[.sections[] | select(.kind == "join") | [.instances, (.threads | length)]]' "$1.json")" "[[1,$2]]" \
		"$1: the threads that it makes and waits for are a section" || diag "$1.json"
	is "$(jq -r '[.sections[] | select(.kind == "join") | .name][0] | . != "" and . != "the threads'"'"' end"' "$1.json")" true \
		"$1: it is said where they are waited for" || diag "$1.json"
}
waited_for sysbench 4 sysbench cpu --threads=4 --time=2 run

# The last thread to end is waited for first, in a call that has no probe, as one that began before its function had one.
cat >early.c <<-'EOC'
	#include <pthread.h>
	#include <time.h>
	static void *run(void *arg)
	{
		struct timespec t = { 0, 0 };
		while (t.tv_sec * 1000 + t.tv_nsec / 1000000 < 500 * (long)arg)
			clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
		return 0;
	}
	int main(void)
	{
		pthread_t t[3];
		for (long i = 0; i < 3; i++)
			pthread_create(&t[i], 0, run, (void *)(i + 1));
		for (int i = 2; i >= 0; i--)
			pthread_join(t[i], 0); /* waits */
	}
EOC
if gcc -g -O1 -pthread early.c -o early 2>cc.err; then
	named=run waited_for early 3 ./early
	"$ISPOT" dump --events -i early.data | awk '/ task-exit/ { exit } / entry pthread_join/ { n++ } END { print n + 0 }' >calls
	is "$(cat calls)" 0 "no call of pthread_join is recorded"
	is "$(jq -r '[.sections[] | select(.kind == "join") | [(.name | split("/") | last | split(")") | first), .worst]] | flatten | join(" ")' early.json)" \
		"early.c:$(grep -n waits early.c | cut -d: -f1) 2" "its line is known, and that the last thread made comes last" || diag early.json

	# Who makes the only thread has a share of its own, as in programs that divide work in halves.
	sed 's/for (long i = 0; i < 3/for (long i = 1; i < 2/; s/for (int i = 2; i >= 0/run((void *)1l);\n\tfor (int i = 1; i > 0/' early.c >share.c
	gcc -g -O1 -pthread share.c -o share && waited_for share 2 ./share
	is "$(jq -c '[.sections[] | select(.kind == "join") | [.threads[].number, .worst]]' share.json)" "[[0,-1,0]]" \
		"who made the thread is part of the section" || diag share.json
else
	skip "a join that began before its probe came" "no C compiler here"
fi

# An OpenMP program of that many rounds, by GCC's libgomp and by LLVM's libomp.
# openmp COMPILER PATTERN...: every round is an instance
openmp() {
	local cc=$1 patterns=()
	for pattern in "${@:2}"; do
		patterns+=(-F "$pattern")
	done
	has_omp "$cc" "a region is a section" || return
	record "omp-$cc" "${patterns[@]}" -- "./omp-$cc" 19
	"$ISPOT" imbalance --json -i "omp-$cc.data" >omp.json
	is "$(section omp.json '"\(.kind) \(.instances) \(.threads | length)"')" "region 19 4" "$cc -fopenmp: a region is a section" ||
		diag omp.json
}
openmp gcc GOMP_parallel '*._omp_fn.*'
openmp clang __kmpc_fork_call '*omp_outlined*'

# Nothing is named: regions are found by themselves, though their bodies take next to no time.
for cc in gcc clang; do
	[ -x "omp-$cc" ] || continue
	record ordinary -- "./omp-$cc" 40 1500
	"$ISPOT" imbalance --json -i ordinary.data >ordinary.json
	is "$(section ordinary.json '"\(.kind) \(.instances > 50) \(.threads | length)"')" "region true 4" \
		"$cc -fopenmp: regions are sections of an ordinary recording" || diag ordinary.json
done

# Between markers: what three threads do at the same time.
cat >marked.c <<-'EOC'
	#include <pthread.h>
	#include <unistd.h>
	#include "probes/ispot.h"
	static pthread_barrier_t barrier;
	static void *run(void *arg)
	{
		for (int r = 0; r < 17; r++) {
			pthread_barrier_wait(&barrier);
			ISPOT_BEGIN(step);
			usleep(4000 + 1000 * (unsigned)(long)arg);
			ISPOT_END(step);
		}
		return 0;
	}
	int main(void)
	{
		pthread_t t[3];
		pthread_barrier_init(&barrier, 0, 3);
		for (long i = 0; i < 3; i++)
			pthread_create(&t[i], 0, run, (void *)i);
		for (int i = 0; i < 3; i++)
			pthread_join(t[i], 0);
	}
EOC
if gcc -g -O1 -I"$ROOT" -pthread marked.c -o marked 2>cc.err; then
	record marked -F marker:step -- ./marked
	# A step that ends before another begins is not of its section: a busy machine has such.
	for how in "" "--section step"; do
		# shellcheck disable=SC2086 # two words
		"$ISPOT" imbalance --json $how -i marked.data >marked.json
		is "$(section marked.json '"\(.kind) \(.name) \(.threads | length) \(.instances >= 9)"')" "named step 3 true" \
			"the time between markers is a section ${how:-by itself}" || diag marked.json
	done
else
	skip "the time between markers is a section" "no C compiler here"
fi

done_testing
