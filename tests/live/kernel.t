#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# One small recording of every kind of record that the kernel's side writes, for kernels that are slow to
# run (`make test-vm`): each kind takes ways of its own through what a kernel has and lacks.
. "$(dirname "$0")/lib.sh"
needs_probes
needs_helper naps

events() { "$ISPOT" dump --events -i "$1.data"; }

# waits NAME KIND: sleeps of this enum wait_kind
waits() { events "$1" | awk -v k="kind=$2" '$4 == "wait" && $5 == k { n++ } END { print n + 0 }'; }

stacks() { jq -r '.blocks[] | select(.name == "inner") | .stacks[].frames | join(" ")' "$1.json"; }

record calls -F outer -F middle -F inner -F factorial -F 'tail_*' -F only_thread_zero -- "$MB/exact" -t 2 -n 503
is "$status" 0 "calls: status" || diag "$("$ISPOT" record -v -o try.data -F main -- "$MB/exact" -n 1 2>&1 | tail -60)"
[ "$status" = 0 ] || { done_testing && exit; }
report calls
matches_truth calls calls
nothing_lost calls
is "$(jq -r .trace.untimed_calls calls.json)" 0 "every call has its end"

record walked -g fp -F inner -F middle -F outer -- "$MB/exact" -t 1 -n 101
report walked
stacks walked >walked.stacks
like walked.stacks 'middle [^ ]+ outer ' "-g fp: through frames whose return address the kernel has replaced"
record copied -g dwarf -F inner -F middle -F outer -- "$MB/exact" -t 1 -n 101
report copied
stacks copied >copied.stacks
like copied.stacks 'middle [^ ]+ outer ' "-g dwarf: the same from copies of the stack"

record marked -F 'marker:*' -F '!marker:cost' -- "$MB/markers" -n 307
is "$status" 0 "markers: status" || diag marked.err
report marked
matches_truth marked calls
nothing_lost marked

record sampled -c 7 -F inner -- "$MB/exact" -t 1 -n 707
report sampled
is "$(block sampled inner .timed_calls)" 303 "-c 7: one call in seven, timed"
is "$(block sampled inner .estimated_calls)" 2121 "-c 7: the others are counted"

record counted -e page-faults,context-switches,cpu-clock -F touch_pages -- "$MB/pagefault" -n 401
report counted
is "$(block counted touch_pages '.counters["page-faults"].calls')" 401 "-e: every call is counted"
within "$(block counted touch_pages '.counters["page-faults"].mean')" 12+-0.1
ok $? "-e: faults of a call" || diag "$(block counted touch_pages .counters)"
clock=$(block counted touch_pages '.counters["cpu-clock"].mean')
[ "$(jq -n "${clock:-null} > 0")" = true ]
ok $? "-e: a clock of the CPU" || diag "$(block counted touch_pages .counters)"
nothing_lost counted

# with_args MASK: entries and exits that have these
with_args() { events args | awk -v mask="mask=$1" '$4 == "args" && $5 == mask' | wc -l; }
# So many threads that some are preempted in their probes, where the kernel does that: others come between
# the arguments and the entry.
record args -F 'weigh@item,size,ret' -- "$MB/arguments" -t 24 -n 6000
report args
nothing_lost args
is "$(with_args 0x200)" "$(block args weigh .calls)" "every call has its return value"
is "$(with_args 0x3)" "$(block args weigh .calls)" "every call has its arguments" || diag args.err

# sleeps_seen NAME KIND: as many as the kernel counted for the threads that the program says it of. How
# many that are is the machine's: a busy one has a pipe filled before its reader comes, and an emulated one a
# time that is over before its thread is asleep.
sleeps_seen() {
	awk -v seen="$(waits "$1" "$2")" '$1 == "slept" { slept = $2 } END { exit !(slept && seen >= 0.9 * slept) }' "$1.out"
}

# Numbers of enum wait_kind: 1 futex, 4 pipe, 5 sleep.
record condvar -F take_item -- "$MB/condvar" -n 301
sleeps_seen condvar 1
ok $? "a condition variable is a futex" || diag "$(cat condvar.out; events condvar | grep wait | head)"
record pipe -F read_message -- "$MB/pipe" -n 201 -d 3000
sleeps_seen pipe 4
ok $? "a pipe" || diag "$(cat pipe.out; events pipe | grep wait | head)"
record slept -F back_off -- "$MB/sleep" -n 201 -d 3000
sleeps_seen slept 5
ok $? "a sleep" || diag "$(cat slept.out; events slept | grep wait | head)"
for name in condvar pipe slept; do
	report $name
	is "$(waits $name 0)" 0 "$name: no wait without a kind"
	nothing_lost $name
done
is "$(first_cause pipe read_message pipe) $(first_cause slept back_off sleep)" "pipe sleep" "their causes"

# Where threads wait: by the tables, from a function without a frame, through one that signs its return
# address where the processor can, and through probed ones.
stack_names() {
	"$ISPOT" dump -i "$1.data" --meta | grep -E '^\{"kind":"(frame|stack)"' | jq -rs '(map(select(.kind == "frame"))
		| map({(.id | tostring): .symbol}) | add) as $name | .[] | select(.kind == "stack") | [.frames[] | $name[tostring]] | join(" ")'
}
naps_in() { jq --arg p "nap in $1 in turn" '[.blocks[] | select(.kind == "site" and .name == $p) | .calls] | add // 0' naps.json; }
# Again where none had its callers, which was seen twice, in emulated machines, and is told.
for _ in 1 2; do
	record naps -F ended -- "$HELPERS/naps" 101
	report naps
	[ "$(naps_in first_place)" -ge 80 ] && break
	diag "$(jq -r '.blocks[] | select(.kind == "site") | "\(.calls) \(.name)"' naps.json)" naps.err
done
for place in first_place second_place signed_place; do
	[ "$(naps_in $place)" -ge 80 ]
	ok $? "waits in $place" || diag "$(jq -r '.blocks[] | select(.kind == "site") | "\(.calls) \(.name)"' naps.json)"
done
for _ in 1 2; do
	record own_naps -F nap -F '*_place' -- "$HELPERS/naps" 101
	stack_names own_naps >own_naps.stacks
	grep -q '^nap first_place turn main ' own_naps.stacks && break
	diag own_naps.stacks
	diag own_naps.err
done
for place in first_place second_place signed_place; do
	like own_naps.stacks "^nap $place turn main " "stacks through $place, which is probed"
done

# Deeper than a kernel's bucket of stacks: longer call chains wrote over the kernel's memory.
record deep -- "$MB/recursion" -n 303
is "$status" 0 "hybrid, deep call chains: status" || diag deep.err
record brief --burst 200ms/400ms -F back_off -- "$MB/sleep" -n 2001
is "$status" 0 "--burst: status" || diag brief.err
report brief
nothing_lost brief
[ "$(events brief | awk '$4 == "set-on"' | wc -l)" -ge 2 ]
ok $? "--burst: several bursts" || diag "$(events brief | grep set-)"

done_testing
