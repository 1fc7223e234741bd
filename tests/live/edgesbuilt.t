#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Programs that count their own edges, as they may be built: of C++, at a fixed address, stripped, with
# libraries, of OpenMP; and what cannot be counted.
. "$(dirname "$0")/edges/lib.sh"
needs_command gcc g++
LINK=(-L"$ROOT/build" -lispot-edges -pthread)

ends=$ROOT/tests/live/edges/ends.cc
line=$(grep -n planted "$ends" | cut -d: -f1)
g++ -no-pie -g -O2 -fsanitize-coverage=trace-pc "$ends" -o ends "${LINK[@]}" || diag "g++ does not count edges"
strip -o ends-bare ends
way "a program at a fixed address" "[400,4,$line]" ./ends
way "one that was stripped" "[402,4,null]" ./ends-bare

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
	like none.err "$2" "$1" && is "$(grep -vc "^hint: " none.err)" 1 "in one line and a hint"
}
refused "a program that does not count is told how to" "does not count its edges; compile it with gcc -g -fsanitize-coverage=trace-pc" \
	"$MB/uneven"
if gcc -static -O2 host.c -o host-static -pthread -ldl 2>/dev/null; then
	refused "one that is linked statically" "is linked statically" ./host-static
else
	skip "one that is linked statically" "no static libraries here"
fi
refused "one that may have loaded what counts, and did not" "counted no edge" bash -c 'exit 3; :'
"$ISPOT" imbalance --count edges -- /nowhere/at/all >none 2>none.err
is $? 127 "a command that is not there"
"$ISPOT" imbalance --count edges --caches -- ./ends >none 2>none.err
is $? 2 "edges are no cache misses"
is "$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'ispot-imbalance.*' | wc -l)" 0 "no file is left behind"

done_testing
