#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The line that makes threads uneven comes first, for each planted cause; counted by valgrind, so
# neither root nor probes are needed and nothing depends on the machine's load.
. "$(dirname "$0")/lib.sh"
needs_command jq valgrind
[ -x "$ISPOT" ] || skip_all "no $ISPOT: run make"

# count NAME OPTIONS... -- UNEVEN-OPTIONS...: NAME.json
count() {
	local name=$1 options=()
	shift
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	"$ISPOT" imbalance --json "${options[@]}" -- "$MB/uneven" "$@" >"$name.json" 2>"$name.err" ||
		diag "$name.err"
}

# first FILE: "file:line" of the largest score in the section that loses most
first() {
	jq -r '.sections[0].causes[0] | "\(.file | split("/") | last):\(.line)"' "$1"
}

# shown PATTERN NAME: the screen has the line of source. As root it is only read where everybody may read it.
shown() {
	if [ "$(id -u)" != 0 ] || setpriv --reuid 65534 --clear-groups test -r "$ROOT/microbench/uneven.c"; then
		like text "$1" "$2"
	else
		skip "$2" "only root may read $ROOT/microbench/uneven.c"
	fi
}

# The section between two barriers, apart from the threads' begin and end.
imbalance() { jq '[.sections[] | select(.kind == "barrier" and .since == null)] | max_by(.instances).imbalance' "$1"; }

for threads in 4 8; do
	for what in blocks root tree loops mix; do
		count "$what" -- --case "$what" -t "$threads"
		first "$what.json" >line
		grep -n "planted:.*$what" "$ROOT/microbench/uneven.c" | sed 's/^\([0-9]*\):.*/uneven.c:\1/' >planted
		grep -qxFf planted line
		ok $? "$what, $threads threads: the planted line is first" || {
			diag "got $(cat line), planted $(paste -sd' ' planted)"
			jq -c '.sections[] | {name, imbalance, answer, causes: [.causes[] | {line, score, kind}]}' "$what.json" >causes
			diag causes
		}
	done
done

count misses --caches -- --case misses -t 8
planted=$(grep -n "planted: misses" "$ROOT/microbench/uneven.c" | cut -d: -f1)
# Between the rounds; the way to the first one, with cold caches, is a section of its own.
among=$(jq -r '[.sections[] | select(.kind == "barrier" and .since == null)][0].causes[0]
	| "\(.file // "" | split("/") | last):\(.line)"' misses.json)
is "$among" "uneven.c:$planted" "cache misses: the planted line is first" || {
	jq -c '.sections[] | {name, since, imbalance, answer, causes: [.causes[:3][] | {file, line, score, kind}]}' misses.json >causes
	diag causes
}

# The branch alone follows the threads' times; with the loop around it, that it goes with by 0.8, it is
# one cluster, which begins at the loop.
for at in "0.9 planted" "0.6 around"; do
	count nested --threshold "${at% *}" -- --case nested
	line=$(grep -n "${at#* }: nested" "$ROOT/microbench/uneven.c" | cut -d: -f1)
	is "$(first nested.json)" "uneven.c:$line" "--threshold ${at% *}: the line that is ${at#* }" || diag nested.json
done
"$ISPOT" imbalance -- "$MB/uneven" --case nested >text 2>/dev/null
shown '\| if \(i \* 37 % 100 < heavy\) +/\* planted: nested \*/$' "a line that has tabs is shown with blanks"
"$ISPOT" imbalance --threshold 1.1 -- "$MB/uneven" >none 2>none.err
is $? 2 "a threshold that no correlation reaches is refused"

# Others idle for 1 % of it: lines are looked for only where that is asked for.
slight() { jq -c '[.sections[] | select(.imbalance > 0.005)] | [.[].causes[:1][].line]' "$1"; }
line=$(grep -n "planted: slight" "$ROOT/microbench/uneven.c" | cut -d: -f1)
count slight -- --case slight
is "$(slight slight.json) $(jq -c '[.min_idle, .left_out]' slight.json)" "[] [0.02,3]" "1 % idle: no line is looked for" || diag slight.json
count slight --min-idle 0.5 -- --case slight
is "$(slight slight.json) $(jq -c '[.min_idle, .left_out]' slight.json)" "[$line,$line] [0.005,1]" \
	"--min-idle 0.5: the planted line" || diag slight.json
"$ISPOT" imbalance --html slight.html -- "$MB/uneven" --case slight 2>/dev/null
"$ISPOT" imbalance -- "$MB/uneven" --case slight >text 2>/dev/null
tr '\n' ' ' <text | grep -q 'No lines were looked for in 3 regions, where .* uneven by less than 2% (--min-idle)'
ok $? "the screen says how many sections are left out" || diag text
like slight.html 'No lines were looked for in 3 regions' "and so does the page"
"$ISPOT" imbalance --min-idle 100 -- "$MB/uneven" >none 2>none.err
is $? 2 "--min-idle 100 is refused"

for threads in 4 8; do
	count balanced -- --case balanced -t "$threads"
	is "$(jq '[.sections[].causes[]] | length' balanced.json)" 0 "balanced work, $threads threads: no line is to blame" ||
		diag balanced.json
done
"$ISPOT" imbalance -- "$MB/uneven" --case balanced >text 2>/dev/null
like text '^No imbalance: ' "the screen says that nothing is uneven"
unlike text 'slowest|WAITED|No lines' "and names no slowest thread"

for what in blocks root tree loops mix misses; do
	options=()
	[ "$what" != misses ] || options=(--caches)
	count before "${options[@]}" -- --case "$what" -t 8
	count after "${options[@]}" -- --case "$what" -t 8 --fixed 1
	awk -v b="$(imbalance before.json)" -v a="$(imbalance after.json)" 'BEGIN { exit !(b > 0.1 && a < 0.02) }'
	ok $? "$what: with the line mended the threads are balanced" ||
		diag "before $(imbalance before.json), after $(imbalance after.json)"
done

"$ISPOT" imbalance -- "$MB/uneven" --case root >text 2>/dev/null
like text 'uneven.c:[0-9]+ \(root\): ' "the screen names the line"
shown '\| if \(me == 0 && !fixed\)' "and shows it"
"$ISPOT" imbalance -- sh -c 'ulimit -d' >/dev/null 2>limit
like limit "^$(ulimit -d)$" "the program has the memory that it has without ispot"
"$ISPOT" imbalance -- /nowhere/at/all >none 2>none.err
is $? 127 "a command that is not there"

# A main thread that takes part: what it does before there are others is no section.
cat >takes_part.c <<-'EOC'
	#include <pthread.h>
	static pthread_barrier_t barrier;
	static volatile unsigned long sink[4 * 8];
	static void *run(void *arg)
	{
		for (int r = 0; r < 3; r++) {
			for (unsigned long i = 0; i < 20000; i++)
				sink[8 * (long)arg] += i;
			pthread_barrier_wait(&barrier);
		}
		return 0;
	}
	int main(void)
	{
		pthread_t t[4];
		for (unsigned long i = 0; i < 1000000; i++)
			sink[0] += i;
		pthread_barrier_init(&barrier, 0, 4);
		for (long i = 1; i < 4; i++)
			pthread_create(&t[i], 0, run, (void *)i);
		run(0);
		for (int i = 1; i < 4; i++)
			pthread_join(t[i], 0);
	}
EOC
if gcc -g -O1 -pthread takes_part.c -o takes_part 2>cc.err; then
	"$ISPOT" imbalance --count callgrind --json -- ./takes_part >part.json 2>part.err || diag part.err
	is "$(jq -c '[.sections[] | select(.imbalance > 0.02)] | length' part.json) $(jq '[.sections[].threads | length] | max' part.json)" "0 4" \
		"what the main thread does before it makes the others is no part of a section" || diag part.json
else
	skip "what the main thread does before it makes the others is no part of a section" "no C compiler here"
fi

# An OpenMP program of that many rounds, by GCC's libgomp and by LLVM's libomp.
for cc in gcc clang; do
	has_omp "$cc" "the planted line is first" || continue
	"$ISPOT" imbalance --json -- "./omp-$cc" 5 >omp.json 2>omp.err || diag omp.err
	is "$(jq -r '.sections[0] | "\(.kind) \(.instances) \(.threads | length) \(.causes[0].line) \(.causes[0].kind)"' omp.json)" \
		"region 5 4 $(grep -n planted "$OMP" | cut -d: -f1) loop" "$cc -fopenmp: the planted line is first" || diag omp.json
done

done_testing
