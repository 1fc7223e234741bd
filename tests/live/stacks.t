#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Call sites and call stacks: exact counts per site; stacks through probed frames, through code
# without frame pointers, and of stripped programs.
. "$(dirname "$0")/lib.sh"
needs_probes
needs_helper callers callers_cxx naps once turns
L=$HELPERS

sites() { "$ISPOT" report --by site --json -i "$1.data" >"$1.sites.json"; }

# site NAME FUNCTION CALLER LINE: its calls
site() {
	jq -r --arg f "$2" --arg c "$3" --arg l ":$4" '[.blocks[] | select(.kind == "site" and .name == $f and .key != null)
		| select((.key | startswith($c + " ")) and (.file_line | endswith($l))) | .calls] | add' "$1.sites.json"
}

# stacks NAME [KIND]: each call stack as its functions from the innermost, once
stacks() {
	"$ISPOT" dump -i "$1.data" --events | awk -v kind="${2-stack}" '$4 == kind { print $5 }' | sort -u >"$1.ids"
	"$ISPOT" dump -i "$1.data" --meta | grep -E '^\{"kind":"(frame|stack)"' |
		jq -rs --rawfile ids "$1.ids" '($ids | split("\n")) as $want
			| (map(select(.kind == "frame")) | map({(.id | tostring): .}) | add) as $frame
			| .[] | select(.kind == "stack" and (.id | tostring | IN($want[])))
			| [.frames[] | $frame[tostring] | if .symbol != "" then .symbol elif .object == "" then "?" else "+" end]
			| join(" ")' | sort -u
}

record plain -F leaf -F middle -F outer -F tail -F again -- "$L/callers" 1009
is "$status" 0 "status"
report plain
sites plain
while read -r _ callee caller line count; do
	is "$(site plain "$callee" "$caller" "$line")" "$count" "calls of $callee from $caller, line $line"
done < <(grep '^site' plain.out)
is "$(jq '[.blocks[] | select(.name == "leaf") | .calls] | add // 0' plain.sites.json)" \
	"$(block plain leaf .calls)" "sites hold all calls of their function"
is "$(jq -c '[.blocks[] | select(.name == "leaf") | .stacks[].count] | [length, add]' plain.json)" \
	"[4,$(block plain leaf .calls)]" "stacks of a block stand for all of its calls"
"$ISPOT" report -i plain.data --slow leaf -v >plain.slow
like plain.slow '1009 .*middle \(callers.c:[0-9]+\)' "--slow shows them"
stacks plain >plain.stacks
like plain.stacks '^leaf middle outer main .*_start' "through two probed frames without frame pointers"
like plain.stacks '^leaf inlined main ' "an inlined frame"
like plain.stacks '^leaf main ' "a tail call is seen from where it returns to"
like plain.stacks '^again again main ' "recursion"
unlike plain.stacks '\?' "no unknown frame"

# Of what assembly wrote there may be no table; at its entry the return address is where the call has put it.
record all -F '*' -- "$MB/exact" -t 1 -n 11
stacks all >all.stacks
like all.stacks '^_fini .*exit .*_start' "from the entry of a function without a table" || diag "$(grep _fini all.stacks)"
unlike all.stacks '\?' "no unknown frame there"

record fp -g fp -F leaf -F middle -- "$L/callers" 1009
sites fp
is "$(site fp leaf middle "$(awk '$3 == "middle" { print $4; exit }' fp.out)")" 1009 "-g fp: calls of a site"
like fp.err 'frame pointers; record with -g dwarf' "-g fp: missing frame pointers are said"
record fp_exact -g fp -F inner -F middle -F outer -- "$MB/exact" -n 1009
stacks fp_exact >fp_exact.stacks
like fp_exact.stacks '^inner middle outer ' "-g fp: through probed frames"
unlike fp_exact.err 'dwarf' "-g fp: nothing to say where there are frame pointers"

record none -g none -F leaf -- "$L/callers" 101
sites none
is "$("$ISPOT" dump -i none.data --events | awk '$4 == "stack"' | wc -l)" 0 "-g none: no stack"
is "$(site none leaf inlined "$(awk '$3 == "inlined" { print $4 }' none.out)")" 101 "-g none: sites all the same"
record wrong -g lbr -F leaf -- "$L/callers" 1
is "$status" 2 "-g with another word: status"
like wrong.err "-g lbr: no way to take call stacks; give fp, dwarf or none" "and is said"

# Of calls that last long, at their exit: the stack as it was at the entry, however the exit is seen.
exit_stacks() { "$ISPOT" dump -i "$1.data" --events | awk '$4 == "exit-stack"' | wc -l; }
for how in dwarf fp; do
	record "long_$how" -g $how --slow-stacks 1ns -F leaf -F middle -F outer -F again -- "$L/callers" 3
	is "$(exit_stacks "long_$how")" $((4 * 3 + 3 + 3 + 4)) "--slow-stacks, $how: one of each call that lasts long"
	stacks "long_$how" exit-stack >"long_$how.stacks"
done
like long_dwarf.stacks '^leaf middle outer main .*_start' "through frames whose functions have ended or have not"
like long_dwarf.stacks '^leaf inlined main ' "an inlined frame"
like long_dwarf.stacks '^leaf main ' "a tail call"
like long_dwarf.stacks '^again again again again main ' "recursion"
unlike long_dwarf.stacks '\?' "no unknown frame"
is "$(sed 's/^\([^ ]* [^ ]*\).*/\1/' long_fp.stacks | sort -u | grep -c .)" \
	"$(sed 's/^\([^ ]* [^ ]*\).*/\1/' long_dwarf.stacks | sort -u | grep -c .)" "by frame pointers the same callers"
record long_exact -g fp --slow-stacks 1ns -F inner -F middle -F outer -- "$MB/exact" -n 11
stacks long_exact exit-stack >long_exact.stacks
like long_exact.stacks '^inner middle outer ' "by frame pointers through probed frames"
record long_cxx --slow-stacks 1ns -F 'Cache::get*' -- "$L/callers_cxx"
is "$(jq -r '[.blocks[] | select(.name | startswith("Cache::get")).probe.exit] | unique | join(" ")' <("$ISPOT" report --json -i long_cxx.data))" \
	ret-sites "C++ is left at its ret instructions"
stacks long_cxx exit-stack >long_cxx.stacks
like long_cxx.stacks '^Cache::get.* void use<[a-z]*>.* main ' "where the stacks are as good"
record short --slow-stacks 1h -F leaf -- "$L/callers" 101
is "$(exit_stacks short)" 0 "none of a call that is shorter"
record senseless --slow-stacks 1ms -g none -F leaf -- "$L/callers" 1
is "$status" 2 "--slow-stacks with -g none: status"
like senseless.err 'leave out -g none' "and is said"

record cxx -F 'Cache::get*' -- "$L/callers_cxx"
is "$status" 0 "C++: status"
sites cxx
for instance in 'void use<int>' 'void use<long>' 'void use<short>'; do
	want=501
	[ "$instance" = 'void use<long>' ] && want=1002
	is "$(jq --arg c "$instance" '[.blocks[] | select(.key != null and (.key | startswith($c))) | .calls] | add' cxx.sites.json)" \
		$want "C++: calls from $instance"
done
stacks cxx >cxx.stacks
like cxx.stacks '^Cache::get.* void use<int>.* main ' "C++: stack"

if command -v strip >/dev/null && strip -o stripped "$L/callers"; then
	record bare -F 'libc:getppid' -- ./stripped 307
	sites bare
	is "$(jq -r '[.blocks[] | select(.name == "getppid") | [.calls, (.key | startswith("stripped+0x"))]] | tojson' bare.sites.json)" \
		"[[307,true]]" "stripped: one site, by its offset"
	stacks bare >bare.stacks
	like bare.stacks '^getppid \+ .*__libc_start' "stripped: the unwind tables are enough"
else
	skip "stripped" "no strip here"
fi

# Where threads wait outside every traced call. The C library's parts, which have no frame pointers, are
# not what was called. A stack is copied once; met again it has the number that it was given.
record waits -F put_items -- "$MB/condvar" -t 2 -n 3001
stacks waits block-stack >waits.stacks
like waits.stacks '(^| )(__)?pthread_cond_wait(@[^ ]*)? take_item ' "waits: through the C library" || diag waits.stacks
like <("$ISPOT" report -i waits.data --json | jq -r '.blocks[] | select(.kind == "site") | .name') \
	'^pthread_cond_wait in take_item in ' "waits: named by what was called"
read -r waits differ < <("$ISPOT" dump -i waits.data --events |
	awk '$4 == "block-stack" { n++; seen[$5]++ } END { print n, length(seen) }')
[ "$waits" -gt 2000 ] && [ "$differ" -lt 60 ]
ok $? "waits: stacks are known again" || diag "$waits waits, $differ stacks"

# From a function without a frame, whose return address is where the stack pointer is.
record naps -F ended -- "$L/naps" 211
report naps
for place in first_place second_place signed_place; do
	[ "$(jq --arg p "nap in $place in turn" '[.blocks[] | select(.kind == "site" and .name == $p) | .calls] | add // 0' naps.json)" -ge 190 ]
	ok $? "waits: those in $place" || diag "$(jq -r '.blocks[] | select(.kind == "site") | "\(.calls) \(.name)"' naps.json)"
done
record own_naps -F nap -F '*_place' -- "$L/naps" 211
stacks own_naps >own_naps.stacks
like own_naps.stacks '^nap signed_place turn main ' "through a probed frame that signs its return address"
stacks own_naps block-stack >own_naps.waits
like own_naps.waits '^nap second_place turn main ' "waits: through probed frames" || diag own_naps.waits
unlike own_naps.waits '\?' "waits: no unknown frame" || diag own_naps.waits

# Of threads that sleep very often few stacks are walked, but most are known by their words; and frames of one size
# are not one frame.
cpu=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
for _ in 1 2 3; do # the recorder, which finds out where they are, may be late on a busy machine
	record turns -F main -- taskset -c "$cpu" "$L/turns" 40000
	read -r slept walked < <("$ISPOT" dump --events -i turns.data | awk '
		$4 == "switch-out" && $5 == "sleeping" { slept++ }
		$4 == "block-stack" { at[slept]++ }
		END { for (i = int(slept / 2) + 1; i <= slept; i++) walked += at[i]; print slept - int(slept / 2), walked + 0 }')
	[ $((100 * walked)) -le $((80 * slept)) ] || break
done
[ "$slept" -gt 10000 ] && [ $((100 * walked)) -gt $((80 * slept)) ]
ok $? "turns: of the last $slept sleeps $walked have a stack" || diag turns.err
report turns
side() { jq --arg p " $1" '[.blocks[] | select(.kind == "site" and (.name | endswith($p))) | .calls] | add // 0' turns.json; }
l=$(side left) r=$(side right)
[ "$l" -gt 1000 ] && [ $((10 * l)) -gt $((8 * r)) ] && [ $((10 * r)) -gt $((8 * l)) ]
ok $? "turns: $l of them in one function, $r in the other" ||
	diag "$(jq -r '.blocks[] | select(.kind == "site") | "\(.calls) \(.name)"' turns.json)"

# Every 10,000th call of a function on a CPU, besides the first of each site.
record many -F leaf -- taskset -c "$cpu" "$L/callers" 30011
n=$("$ISPOT" dump -i many.data --events | awk '$4 == "stack"' | wc -l)
is "$n" $((4 + 4 * 30011 / 10000)) "every 10,000th call of a function"
record every -g fp --stack-period 1000 -F leaf -- taskset -c "$cpu" "$L/callers" 30011
n=$("$ISPOT" dump -i every.data --events | awk '$4 == "stack"' | wc -l)
is "$n" $((4 + 4 * 30011 / 1000)) "--stack-period 1000: of every 1000th call"
record no_period --stack-period 5 -g none -F leaf -- "$L/callers" 1
is "$status" 2 "--stack-period with -g none: status"
like no_period.err 'leave out -g none' "and is said"

# A function that runs once has no fastest call to compare with; its loop's iterations would.
record once -F once -- "$L/once" 1000000007
report once
line=$(awk '/^\twhile \(/ { print NR; exit }' "$ROOT/tests/live/once.c")
like <(block once once .loop) "once.c:$line\"?\$" "called once: its loop is named" || diag "$(block once once "| tojson")"
"$ISPOT" report -i once.data >once.screen
like once.screen "^Loops to mark: line $line of once" "called once: on the screen too"

# What is gone before anybody asked has names too.
record short -F leaf -- "$L/callers" 1
sites short
is "$(jq '[.blocks[] | select(.name == "leaf" and .file_line == null)] | length' short.sites.json)" 0 "a process that has ended"
done_testing
