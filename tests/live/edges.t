#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Programs that count their own edges: the planted line comes first, at full speed and without root
# or probes. Sections are as long as it takes that a busy machine cannot hide which thread has more.
. "$(dirname "$0")/lib.sh"
needs_command jq gcc
[ -x "$ISPOT" ] || skip_all "no $ISPOT: run make"
UNEVEN=$ROOT/build/edges/uneven
LINK=(-L"$ROOT/build" -lispot-edges -pthread)

# count NAME COMMAND...: NAME.json
count() {
	"$ISPOT" imbalance --count edges --json -- "${@:2}" >"$1.json" 2>"$1.err" || diag "$1.err"
}

# What was counted in the section that most instances have: "line kind", the largest score first.
RUNS='[.sections[] | select(.kind == "barrier")] | max_by(.instances)'
first() { jq -r "$RUNS"' | .causes[0] | "\(.file // "" | split("/") | last):\(.line)"' "$1"; }

# Where other programs make one of the CPUs slower all of the time, the threads on it are late for no line of
# theirs: then it is counted again, at most twice.
finds() {
	grep -n "planted:.*$1" "$ROOT/microbench/uneven.c" | sed 's/^\([0-9]*\):.*/uneven.c:\1/' >planted
	for _ in 1 2 3; do
		count "$1" "$UNEVEN" --case "$1" -t "$2" -n 4001
		first "$1.json" >line
		grep -qxFf planted line && return
	done
	return 1
}

for threads in 4 8; do
	for what in blocks root tree loops mix; do
		finds "$what" "$threads"
		ok $? "$what, $threads threads: the planted line is first" || {
			diag "got $(cat line), planted $(paste -sd' ' planted)"
			jq -c '.sections[] | {name, imbalance, answer, causes: [.causes[] | {line, score, kind}]}' "$what.json" >causes
			diag causes
		}
	done
done
is "$(jq -r '.provider + " " + .unit' mix.json)" "edges ns" "times are real ones"

# Counts are exact: root's thread is alone with its branch, in each round but the first section's.
finds root 4
is "$(jq -c "$RUNS"' | [.instances, (.causes[0].counts | sort)]' root.json)" "[4000,[0,0,0,4000]]" \
	"each round is counted, by thread" || diag root.json
# The same of a program that is mended: a thread that the machine makes late may be the one with the branch.
clears() {
	planted=$(grep -n "planted:.*$1" "$ROOT/microbench/uneven.c" | cut -d: -f1 | head -1)
	for _ in 1 2 3; do
		count after "$UNEVEN" --case "$1" --fixed 1 -n 4001
		[ "$(jq "[.sections[].causes[] | select(.line == $planted)] | length" after.json)" = 0 ] && return
	done
	return 1
}
for what in blocks root tree loops; do
	clears "$what"
	ok $? "$what: with the line mended it is not to blame" || diag after.json
done
count balanced "$UNEVEN" --case balanced -n 4001
is "$(jq '[.sections[] | .causes[]] | length' balanced.json)" 0 "balanced work: no line is to blame" || diag balanced.json
"$ISPOT" imbalance -- "$UNEVEN" --case root -n 4001 >auto 2>auto.err
like auto "counted by the program itself, because it was compiled" "auto: takes what the program offers, and says why"
like auto 'uneven.c:[0-9]+ \(root\): branch taken unevenly' "the screen names the line"

# A program of C++ with an inlined loop, that ends in one way or another.
cat >ends.cc <<-'EOC'
	#include <algorithm>
	#include <cstdlib>
	#include <cstring>
	#include <pthread.h>
	#include <signal.h>
	#include <unistd.h>
	#include <vector>
	static pthread_barrier_t barrier;
	static volatile unsigned long out[8 * 8];
	static inline unsigned long steps(unsigned long n)
	{
		unsigned long sum = 0;
		while (n != 1) { // planted
			n = n % 2 ? 3 * n + 1 : n / 2;
			sum++;
		}
		return sum;
	}
	static void *run(void *arg)
	{
		unsigned me = (unsigned)(long)arg;
		std::vector<unsigned long> v;
		pthread_barrier_wait(&barrier);
		for (int r = 0; r < 401; r++) {
			v.assign(20, r);
			std::sort(v.begin(), v.end());
			for (unsigned i = 0; i < 300; i++)
				out[me * 8] += steps(me == 2 ? 27 : me == 1 ? 9 : 5);
			pthread_barrier_wait(&barrier);
		}
		return nullptr;
	}
	int main(int argc, char **argv)
	{
		const char *how = argc > 1 ? argv[1] : "";
		pthread_t t[4];
		if (!strcmp(how, "fork") && !fork()) {
			for (int i = 0; i < 1000; i++)
				out[0] += steps(27);
			_exit(0);
		}
		pthread_barrier_init(&barrier, nullptr, 4);
		for (long i = 0; i < 4; i++)
			pthread_create(&t[i], nullptr, run, (void *)i);
		for (int i = 0; i < 4; i++)
			pthread_join(t[i], nullptr);
		if (!strcmp(how, "_exit"))
			_exit(3);
		if (!strcmp(how, "signal"))
			raise(SIGKILL);
		if (!strcmp(how, "exec"))
			execl("/proc/self/exe", "again", (char *)nullptr);
	}
EOC
line=$(grep -n planted ends.cc | cut -d: -f1)
g++ -g -O2 -fsanitize-coverage=trace-pc ends.cc -o ends "${LINK[@]}" || diag "g++ does not count edges"
g++ -no-pie -g -O2 -fsanitize-coverage=trace-pc ends.cc -o ends-fixed "${LINK[@]}"
strip -o ends-bare ends
# way NAME WANTED COMMAND...: instances, threads, and the line that comes first
way() {
	local name=$1 wanted=$2 got
	shift 2
	for _ in 1 2 3; do
		count way "$@"
		got=$(jq -c "$RUNS"' | [.instances, (.threads | length), .causes[0].line]' way.json)
		[ "$got" != "$wanted" ] || break
	done
	is "$got" "$wanted" "$name" || {
		jq -c '.sections[] | {name, instances, imbalance, answer, causes: [.causes[] | {line, score, kind, counts}]}' way.json >causes
		diag causes
	}
}
way "C++, a loop that was inlined" "[400,4,$line]" ./ends
jq -c "$RUNS"' | .causes[0].counts | sort | [.[3] > .[2], .[2] > .[1], .[1] == .[0]]' way.json >ordered
is "$(cat ordered)" "[true,true,true]" "its counts are those of the threads" || diag way.json
way "a program at a fixed address" "[400,4,$line]" ./ends-fixed
way "one that was stripped" "[402,4,null]" ./ends-bare
way "one that ends by _exit()" "[400,4,$line]" ./ends _exit
way "one that a signal ends" "[400,4,$line]" ./ends signal
way "its child of fork() is not counted" "[400,4,$line]" ./ends fork
way "an exec goes on as another program" "[800,8,$line]" ./ends exec
way "one that a shell starts" "[400,4,$line]" sh -c './ends; true'

# A library that the program opens itself, which knows nothing of counting.
cat >plugin.c <<-'EOC'
	void work(int me, volatile unsigned long *sink);
	void work(int me, volatile unsigned long *sink)
	{
		for (unsigned long i = 0; i < 3000ul * (me * me + 1); i++) /* planted */
			*sink += i;
	}
EOC
cat >host.c <<-'EOC'
	#include <dlfcn.h>
	#include <pthread.h>
	static pthread_barrier_t barrier;
	static volatile unsigned long sink[4 * 8];
	static void (*work)(int, volatile unsigned long *);
	static void *run(void *arg)
	{
		for (int r = 0; r < 401; r++) {
			work((int)(long)arg, &sink[8 * (long)arg]);
			pthread_barrier_wait(&barrier);
		}
		return 0;
	}
	int main(void)
	{
		pthread_t t[4];
		void *library = dlopen("./plugin.so", RTLD_NOW);
		work = (void (*)(int, volatile unsigned long *))dlsym(library, "work");
		pthread_barrier_init(&barrier, 0, 4);
		for (long i = 0; i < 4; i++)
			pthread_create(&t[i], 0, run, (void *)i);
		for (int i = 0; i < 4; i++)
			pthread_join(t[i], 0);
	}
EOC
gcc -g -O2 -fPIC -shared -fsanitize-coverage=trace-pc plugin.c -o plugin.so "${LINK[@]}"
gcc -g -O2 host.c -o host -pthread -ldl
LD_LIBRARY_PATH=$ROOT/build way "a library that was opened by dlopen()" "[401,4,$(grep -n planted plugin.c | cut -d: -f1)]" ./host

# More threads than there is room for: those that were counted are, and what is not is said.
cat >many.c <<-'EOC'
	#include <pthread.h>
	static volatile int sink;
	static void *run(void *arg) { sink = arg != 0; return 0; }
	int main(void)
	{
		for (int i = 0; i < 4200; i++) {
			pthread_t t;
			pthread_create(&t, 0, run, &t);
			pthread_join(t, 0);
		}
		pthread_t two[2];
		for (int i = 0; i < 2; i++)
			pthread_create(&two[i], 0, run, two);
		for (int i = 0; i < 2; i++)
			pthread_join(two[i], 0);
	}
EOC
gcc -g -O2 -fsanitize-coverage=trace-pc many.c -o many "${LINK[@]}"
count many ./many
is "$(jq -r '.notices[0]' many.json)" "107 threads not counted: there were too many, or there was no room for their files; set TMPDIR" \
	"threads that are too many are said"

# An OpenMP program, by GCC's libgomp and by LLVM's libomp.
openmp() { # openmp COMPILER FLAGS...
	local got wanted
	has_omp "$1" "the planted line is first" "${@:2}" "${LINK[@]}" || return
	wanted="region 211 4 $(grep -n planted "$OMP" | cut -d: -f1) loop"
	for _ in 1 2 3; do
		count omp "./omp-$1" 211
		got=$(jq -r '.sections[0] | "\(.kind) \(.instances) \(.threads | length) \(.causes[0].line) \(.causes[0].kind)"' omp.json)
		[ "$got" != "$wanted" ] || break
	done
	is "$got" "$wanted" "$1 -fopenmp: the planted line is first" || diag omp.json
}
openmp gcc -fsanitize-coverage=trace-pc
openmp clang -fsanitize-coverage=bb,trace-pc,no-prune -fno-sanitize-link-runtime

refused() { # refused NAME REGEX COMMAND...: in one line
	"$ISPOT" imbalance --count edges -- "${@:3}" >none 2>none.err
	like none.err "$2" "$1" && is "$(wc -l <none.err)" 1 "in one line"
}
refused "a program that does not count is told how to" "does not count its edges; compile it with gcc -g -fsanitize-coverage=trace-pc" \
	"$MB/uneven"
gcc -static -O2 host.c -o host-static -pthread -ldl 2>/dev/null &&
	refused "one that is linked statically" "is linked statically" ./host-static
refused "one that may have loaded what counts, and did not" "counted no edge" bash -c 'exit 3; :'
"$ISPOT" imbalance --count edges -- /nowhere/at/all >none 2>none.err
is $? 127 "a command that is not there"
"$ISPOT" imbalance --count edges --caches -- "$UNEVEN" >none 2>none.err
is $? 2 "edges are no cache misses"
is "$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'ispot-imbalance.*' | wc -l)" 0 "no file is left behind"

done_testing
