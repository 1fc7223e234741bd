#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Counters of calls that need no PMU: the task's own numbers, clocks per CPU.
. "$(dirname "$0")/lib.sh"
needs_probes

# counter NAME FUNCTION COUNTER MEMBER
counter() { block "$1" "$2" ".counters[\"$3\"].$4"; }

# Every call maps fresh pages and touches each: the faults of a call are exact.
record faults -e page-faults,major-faults,context-switches -F touch_pages -- "$MB/pagefault"
is "$status" 0 "faults: status"
report faults
calls=$(block faults touch_pages .timed_calls)
is "$(counter faults touch_pages page-faults calls)" "$calls" "-e counts every call"
# 16 pages, given back before three calls of four, and fresh at the first.
[ "$(jq -n "$(counter faults touch_pages page-faults mean) | . > 11.99 and . < 12.01")" = true ]
ok $? "page faults of a call are exact" || diag "$(block faults touch_pages .counters)"
nothing_lost faults

# More threads than CPUs: what others run while a call waits for its CPU is not the call's. Two
# clocks, so that their ratio is the cycle counter's speed.
record clock -e cpu-clock,msr/tsc/ -F crunch -- "$MB/oversubscription"
report clock
if compgen -G '/sys/bus/event_source/devices/cpu*' >/dev/null ||
	compgen -G '/sys/bus/event_source/devices/armv8_*' >/dev/null; then
	skip "the recording says that there is no PMU" "there is one"
else
	is "$(jq -r .trace.pmu clock.json)" none "the recording says that there is no PMU"
fi
"$ISPOT" dump -i clock.data >clock.dump
like clock.dump '"kind":"counter","id":0,"name":"cpu-clock".*"why":""' "the counter is described"
fast=$(counter clock crunch cpu-clock mean_fast) slow=$(counter clock crunch cpu-clock mean_slow)
p50=$(block clock crunch .p50_ns) p99=$(block clock crunch .p99_ns)
if [ "$(jq -n "$p99 > 5 * $p50")" = true ]; then
	[ "$(jq -n "$slow < 3 * $fast and $fast > 0.5 * $(block clock crunch .min_ns)")" = true ]
	ok $? "time of other threads on the CPU is taken out" ||
		diag "cpu-clock of slow calls $slow, of fast ones $fast; p50 $p50, p99 $p99"
else
	skip "time of other threads on the CPU is taken out" "no call waited for its CPU"
fi
speed=$(grep -o '"cycles_per_ns":[0-9.]*' clock.dump | cut -d: -f2)
tsc=$(counter clock crunch msr/tsc/ mean)
if [ "$tsc" != null ] && [ -n "$speed" ]; then
	[ "$(jq -n "$tsc / $speed / $(counter clock crunch cpu-clock mean) | . > 0.95 and . < 1.05")" = true ]
	ok $? "two clocks of the CPU agree on the threads' own time" || diag "tsc $tsc at $speed"
else
	skip "two clocks of the CPU agree on the threads' own time" "no msr/tsc/ here"
fi

# Without -e the task's own numbers count at every call, and perf events, if this machine has any, at
# a few. What is unchanged is not written again.
record some -F 'tail_*' -F inner -- "$MB/exact" -t 1 -n 20011
report some
is "$(counter some inner minor-faults calls)" 60033 "without -e every call has the task's numbers"
"$ISPOT" report -i some.data >some.text
unlike some.text 'minor-faults' "what nobody asked for is not on the first screen"
n=$("$ISPOT" dump -i some.data | grep -cE ' counters mask=0x[0-9a-f]+ ')
[ "$n" -ge 1 ] && [ "$n" -lt 12000 ]
ok $? "they are written where they changed" || diag "$n of $((6 * 20011)) records"
n=$(jq '[.blocks[] | select(.name == "inner") | .counters[].calls | select(. != 60033 and . != 0)] | max' some.json)
if [ "$n" != null ]; then
	[ "$n" -gt 1000 ] && [ "$n" -lt 20000 ]
	ok $? "without -e perf events count one call in 16" || diag "$n of $((3 * 20011))"
else
	skip "without -e perf events count one call in 16" "no perf event counts here without -e"
fi
record none -e none -F inner -- "$MB/exact" -t 1 -n 1009
report none
is "$(block none inner .counters)" "{}" "-e none counts nothing"

# Sectors are those of the thread's own reads: 8 in each of seven calls of eight, however the disk
# answers; of the file's own blocks some may have to be looked up.
if [ -r /proc/self/io ] && df . | grep -q '^/dev/'; then
	record reads -e sectors-read -F read_block -- "$MB/io_direct" -n 1009
	is "$status" 0 "sectors-read: status"
	report reads
	sectors=$(counter reads read_block sectors-read mean)
	[ "$(jq -n "$sectors > 6.9 and $sectors < 7.5")" = true ]
	ok $? "what a call read from disk is counted" || diag "$sectors sectors a call"
	record writes -e sectors-written,sectors-read -F write_block -- "$MB/io_direct" --writes 1 -n 1009
	is "$status" 0 "sectors-written: status"
	report writes
	sectors=$(counter writes write_block sectors-written mean)
	[ "$(jq -n "$sectors > 6.9 and $sectors < 7.5")" = true ]
	ok $? "what a call wrote to disk is counted" || diag "$sectors sectors a call"
	is "$(jq -r '[.blocks[] | select(.name == "write_block") | .causes[].kind | select(. != "cpu-wait" and . != "ispot")][0]' writes.json)" \
		disk-io "writes take their time for the disk, asleep or not"
	record buffered -e sectors-written --no-key write -F write -- dd if=/dev/zero of=buffered.file bs=4k count=500
	report buffered
	is "$(counter buffered write sectors-written mean)" 0 "what is left to be written later is not"
else
	skip "what a call read from disk is counted" "no file on a block device here, or no /proc/self/io"
fi

# What this machine cannot count is n/a, never 0, and is said once.
if [ "$("$ISPOT" list --json | jq '[.counters[] | select(.name == "cycles" and .usable)] | length')" = 0 ]; then
	record lacking -e cycles,page-faults -F inner -- "$MB/exact" -t 1 -n 1009
	is "$status" 0 "an event that cannot be counted does not stop the recording"
	is "$(grep -c 'cycles: not counted' lacking.err)" 1 "it is said once"
	report lacking
	is "$(counter lacking inner cycles mean)" null "its mean is null"
	is "$(counter lacking inner page-faults calls)" 3027 "the others are counted"
	record fallback -e cycles,instructions -F inner -- "$MB/exact" -t 1 -n 1009
	like fallback.err 'counted instead: minor-faults' "nothing left: the software group"
else
	skip "an event that cannot be counted" "cycles can be counted here"
fi

# refused EVENTS REGEX NAME
refused() {
	record refused -e "$1" -F inner -- "$MB/exact" -n 1
	is "$status" 125 "$3: refused"
	like refused.err "$2" "$3: says why"
}
refused cylces 'did you mean cycles\?' "a misspelt event"
refused msr/tcs/ "names no event 'tcs'" "an event that a PMU does not have"
refused nopmu/x/ "no PMU 'nopmu'" "a PMU that is not there"
refused page-faults, 'ends with a comma' "a comma too many"
refused cycles,instructions,branches,branch-misses,bus-cycles,cache-misses,cache-references,ref-cycles,page-faults,minor-faults,major-faults,cpu-clock,task-clock \
	'more than 12 events' "too many events"
printf 'name mine\nevent cycles *\n' >bad.group
refused @bad.group 'bad.group:2: ' "a group file with an error"
printf '# mine\nname mine\nwhat faults\nserves page-fault\nevent faults * page-faults\n' >good.group
record file -e @good.group -F inner -- "$MB/exact" -t 1 -n 1009
report file
is "$(counter file inner faults calls)" 3027 "a group file of the user's"

done_testing
