#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# `ispot imbalance --count hardware`: samples by instruction while the program runs at full speed. What
# a machine lacks it says; page faults every kernel samples.
. "$(dirname "$0")/lib.sh"
needs_probes
needs_command jq

planted=$(grep -n "planted: faults" "$ROOT/microbench/uneven.c" | cut -d: -f1)

# counted NAME OPTIONS... -- COMMAND...: NAME.json of samples
counted() {
	local name=$1
	shift
	"$ISPOT" imbalance --count hardware --json "$@" >"$name.json" 2>"$name.err" || diag "$name.err"
}

counted faults --event page-faults -- "$MB/uneven" --case faults -t 4 -n 211
jq '[.sections[] | select(.kind == "barrier" and .since == null and .instances > 1)][0]' faults.json >rounds
is "$(jq -r '.causes[0] | "\(.kind) \(.file | split("/") | last):\(.line) \(.function)"' rounds)" \
	"page-faults uneven.c:$planted faults" "page faults: the planted line comes first" || diag rounds
# 2048 touches, 64, 128, 192 and 256 bytes apart: so many pages in each round, and none is left out.
is "$(jq -c '.instances as $n | .causes[0].counts | sort | map(. / $n)' rounds)" "[32,64,96,128]" \
	"each is counted, by thread and section" || diag rounds
is "$(jq .instances rounds)" 210 "in every round but the first, which begins elsewhere"
is "$(jq -r '.unit + " " + .provider' faults.json)" "ns hardware" "times are real ones"
is "$(jq '[.notices[] | select(test("estimates from"))] | length' faults.json)" 1 "it says what was sampled"

counted even --event page-faults -- "$MB/uneven" --case faults -t 4 -n 211 --fixed 1
is "$(jq '[.sections[].causes[] | select(.kind == "page-faults" and .line == '"$planted"')] | length' even.json)" 0 \
	"with the line mended it is not to blame" || diag even.json

"$ISPOT" imbalance --count hardware --event page-faults -- "$MB/uneven" --case faults -n 53 >text 2>text.err
like text "sampled by the hardware" "the screen says who counted"
like text "uneven.c:$planted \(faults\): faults pages unevenly" "and names the line"

if "$ISPOT" imbalance --count hardware -- "$MB/uneven" --case root -n 5 >hw 2>hw.err; then
	like hw "branch records|no branch records \(" "hardware: what was sampled and what not is said"
	like hw "uneven" "and it counts"
else
	like hw.err "the hardware cannot count here: no branch records: .*; no cache-misses: .*; leave out --count" \
		"hardware: refused in words where the machine lacks it"
	is "$(grep -vc "^hint: " hw.err)" 1 "in one line and a hint"
fi
"$ISPOT" imbalance --json -- "$MB/uneven" --case root -n 5 >auto.json 2>auto.err
if command -v valgrind >/dev/null; then
	is "$(jq -r '.provider == "hardware" or ([.notices[] | select(test("counted by valgrind, because"))] | length == 1)' auto.json)" true \
		"auto: says why it is not the hardware"
else
	like auto.err "counting needs valgrind, which is not here" "auto: says what is missing"
fi

# The processor's own counter, where there is one, interrupts each so many instructions. That of the emulated
# machine comes late, most often in the kernel, of which no line is known: then that is said.
if [ "$("$ISPOT" list --json | jq '[.counters[] | select(.name == "instructions" and .usable)] | length')" = 1 ]; then
	counted pmu --event instructions -- "$MB/uneven" --case loops -t 4 -n 4001
	jq -r '.notices[]' pmu.json >notices
	like notices "estimates from [1-9][0-9.kM]* samples, [1-9]" "instructions are sampled"
	if [ -e "$(echo /sys/bus/event_source/devices/*/caps/max_precise)" ]; then
		like notices "instructions by instruction, precise_ip [0-3] of 3" "as exactly as the PMU tells"
	else
		like notices "instructions, of which this PMU tells only about where" "and not exactly, which is said"
	fi
	if [ "$(jq '.sections[0].causes | length' pmu.json)" -gt 0 ]; then
		is "$(jq -r '.sections[0].causes[0].function' pmu.json)" loops "those of the loop come first" || diag notices
	else
		like notices "in code of no file: counts are too small" "why no line is found" || diag notices
	fi
fi
"$ISPOT" imbalance --count hardware --event nosuch -- true >none 2>none.err
is $? 1 "an event that is none"
"$ISPOT" imbalance --count hardware --event context-switches -- true >none 2>none.err
like none.err "is counted by task, not sampled" "an event that is counted, not sampled"
"$ISPOT" imbalance --count hardware --event page-faults -- /nowhere/at/all >none 2>none.err
is $? 127 "a command that is not there"
is "$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'ispot-imbalance.*' -newer text | wc -l)" 0 "no file is left behind"

done_testing
