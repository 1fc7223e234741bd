#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Programs that count their own edges: the planted line comes first, at full speed and without root
# or probes. Sections are as long as it takes that a busy machine cannot hide which thread has more.
. "$(dirname "$0")/edges/lib.sh"
needs_counting uneven ends
UNEVEN=$ROOT/build/edges/uneven
ENDS=$ROOT/build/edges/ends
ROUNDS=${ROUNDS:-4001}

# Where other programs make one of the CPUs slower all of the time, the threads on it are late for no line of
# theirs: then it is counted again, at most twice.
finds() {
	grep -n "planted:.*$1" "$ROOT/microbench/uneven.c" | sed 's/^\([0-9]*\):.*/uneven.c:\1/' >planted
	for _ in 1 2 3; do
		count "$1" "$UNEVEN" --case "$1" -t "$2" -n "$ROUNDS" --length 4
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
is "$(jq -c "$RUNS"' | [.instances, (.causes[0].counts | sort)]' root.json)" "[$((ROUNDS - 1)),[0,0,0,$((ROUNDS - 1))]]" \
	"each round is counted, by thread" || diag root.json
# The same of a program that is mended: a thread that the machine makes late may be the one with the branch.
clears() {
	planted=$(grep -n "planted:.*$1" "$ROOT/microbench/uneven.c" | cut -d: -f1 | head -1)
	for _ in 1 2 3; do
		count after "$UNEVEN" --case "$1" --fixed 1 -n "$ROUNDS"
		[ "$(jq "[.sections[].causes[] | select(.line == $planted)] | length" after.json)" = 0 ] && return
	done
	return 1
}
for what in blocks root tree loops; do
	clears "$what"
	ok $? "$what: with the line mended it is not to blame" || diag after.json
done
for threads in 4 8; do
	count balanced "$UNEVEN" --case balanced -t "$threads" -n "$ROUNDS"
	is "$(jq '[.sections[] | .causes[]] | length' balanced.json)" 0 "balanced work, $threads threads: no line is to blame" ||
		diag balanced.json
done
"$ISPOT" imbalance -- "$UNEVEN" --case root -n "$ROUNDS" >auto 2>auto.err
like auto "counted by the program itself, because it was compiled" "auto: takes what the program offers, and says why"
like auto 'uneven.c:[0-9]+ \(root\): branch taken unevenly' "the screen names the line"

# A program of C++ with an inlined loop, that ends in one way or another.
line=$(grep -n planted "$ROOT/tests/live/edges/ends.cc" | cut -d: -f1)
way "C++, a loop that was inlined" "[400,4,$line]" "$ENDS"
into=$(grep -n 'out\[me \* 8\] += steps' "$ROOT/tests/live/edges/ends.cc" | cut -d: -f1)
is "$(jq -r "$RUNS"' | .causes[0].frames | map("\(.function | split("(")[0]):\(.line)") | join(" ")' way.json)" \
	"steps:$line run:$into" "and where it was inlined" || diag way.json
jq -c "$RUNS"' | .causes[0].counts | sort | [.[3] > .[2], .[2] > .[1], .[1] == .[0]]' way.json >ordered
is "$(cat ordered)" "[true,true,true]" "its counts are those of the threads" || diag way.json
way "one that ends by _exit()" "[400,4,$line]" "$ENDS" _exit
way "one that a signal ends" "[400,4,$line]" "$ENDS" signal
way "its child of fork() is counted, too" "[800,8,$line]" "$ENDS" fork
way "an exec goes on as another program" "[800,8,$line]" "$ENDS" exec
way "one that a shell starts" "[400,4,$line]" sh -c "'$ENDS'; true"
is "$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'ispot-imbalance.*' | wc -l)" 0 "no file is left behind"

done_testing
