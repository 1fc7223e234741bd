#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Calls told apart by their arguments, and locks by where they lie: what the report says of a
# program with four mutexes in one array is what the program knows of them.
. "$(dirname "$0")/lib.sh"
needs_probes

# keyed NAME FUNCTION JQ-FILTER: of its blocks with a key, one line each, sorted
keyed() {
	jq -r --arg f "$2" ".blocks[] | select(.kind == \"function\" and .name == \$f and .key) | $3" "$1.json" | sort
}
# known NAME OFFSET KEY: what the program says of one of its locks
known() { awk -v o="offset=$2" -v k="$3" '$3 == o { for (i = 4; i <= NF; i++) { split($i, p, "="); if (p[1] == k) print p[2] } }' "$1.out"; }
# of_lock NAME PLACE JQ-PATH
of_lock() { jq -r --arg l "$2" "[.blocks[] | select(.kind == \"lock\" and .name == \$l)][0]$3" "$1.json"; }

# Held for long: between its look whether one is held and its coming for it the program meets a probe.
record four -F pthread_mutex_lock -F pthread_mutex_unlock -- "$MB/four_locks" -n 3001 -d 400
is "$status" 0 "status"
report four
nothing_lost four
for place in locks=0x0 locks+0x28=0x28 locks+0x50=0x50 locks+0x78=0x78; do
	is "$(keyed four pthread_mutex_lock "select(.key == \"${place%=*}\") | .calls")" \
		"$(known four "${place#*=}" taken)" "calls of ${place%=*}"
done
is "$(jq -r '[.blocks[] | select(.name == "pthread_mutex_lock" and .key)] | max_by(.lost_threads) |
	.key + " " + .verdict' four.json)" "locks+0x28 interference" "the contended one is named, and leads"
is "$(keyed four pthread_mutex_lock 'select(.key | test("^locks")) | select(.verdict == "noise" or .sci < 0.01 or (.sci < 0.05 and any(.causes[]; .kind == "cpu-wait"))) | .key')" \
	"locks
locks+0x50
locks+0x78" "the others are under their floor, or near it, or met other programs" ||
	diag "$(keyed four pthread_mutex_lock '[.key, .verdict, .sci, .floor, .causes] | tostring')"
"$ISPOT" report -i four.data >four.txt
like four.txt 'pthr.* locks\+0x28' "it is named in the table"

"$ISPOT" report --no-key '*' --json -i four.data >four.json
is "$(keyed four pthread_mutex_lock .key)" "" "--no-key '*': one block a function"
is "$(block four pthread_mutex_lock .key)" null "and no key"

"$ISPOT" report --by lock --json -i four.data >four.json
is "$(of_lock four locks+0x28 .calls)" "$(known four 0x28 taken)" "--by lock: how often it was taken"
is "$(of_lock four locks+0x28 .lock.holds)" "$(known four 0x28 taken)" "and held"
# between LOW GOT HIGH: a tenth more or less
between() { awk -v a="$1" -v b="$2" -v c="$3" 'BEGIN { exit !(a * 0.9 < b && b < c * 1.1) }'; }
# The probes are around the time that the program sees it held, and within what it sees as its wait: some µs
# apart, on a busy machine now and then a turn.
known=$(known four 0x28 hold_ns)
between "$known" "$(of_lock four locks+0x28 .lock.hold_total_ns)" $((2 * known))
ok $? "for how long" || diag "$(of_lock four locks+0x28 .lock)" four.out
known=$(known four 0x28 wait_ns)
between $((known / 2)) "$(of_lock four locks+0x28 .total_ns)" "$known"
ok $? "how long threads waited" || diag "$(of_lock four locks+0x28 '')" four.out
within "$(of_lock four locks+0x28 .lock.contended)" \
	"$(awk -v c="$(known four 0x28 contended)" -v n="$(known four 0x28 taken)" 'BEGIN { print c / n "+-0.1" }')"
ok $? "the part that found it held" || diag "$(of_lock four locks+0x28 .lock)" four.out
like <(of_lock four locks+0x28 '.lock.holders[0].site') '^use' "who held it"
is "$(of_lock four locks+0x50 .lock.contended)" 0 "the others were never held by another thread"

record bare -F use_own -- "$MB/four_locks"
"$ISPOT" report --by lock -i bare.data >bare.txt 2>bare.err
is $? 1 "--by lock without a lock function"
like bare.err "record them with -F 'pthread_mutex_\*@arg1'" "says what to record"
"$ISPOT" report --key use_own@arg1 -i bare.data >bare.txt 2>bare.err
is $? 1 "--key of a function without arguments"
like bare.err "recorded without its arguments; record it with -F 'use_own@arg1'" "says what to record"
"$ISPOT" report --key nothing@arg1 -i bare.data >bare.txt 2>bare.err
is $? 1 "--key of a function that is not there"
like bare.err "no function of that name" "says so"
"$ISPOT" report --key use_own -i bare.data >bare.txt 2>bare.err
is $? 2 "--key without an argument"
like bare.err "give FUNC@ARG" "says what it wants"

# The paper's write in DC: by size it is two blocks, switched off it is one.
record write -F write@arg3 -- dd if=/dev/zero of=/dev/null bs=100 count=500
"$ISPOT" report --json --key write@arg3 -i write.data >write.json
like <(jq -r '.blocks[] | select(.kind == "function" and .name == "write") | .key' write.json) \
	'=64B..128B$' "write by its size" || diag "$(jq -c '.blocks[] | [.name, .key, .calls]' write.json)"

# A few words and a long line, in turn; switched off for this function alone it is one block again.
# shellcheck disable=SC2016
record sizes -F write -- sh -c 'long=$(printf %2000s .) i=0
	while [ $i -lt 120 ]; do printf short; printf "%s" "$long"; i=$((i + 1)); done'
report sizes
# The size is called as libc's debug information has it, if there is any.
is "$(keyed sizes write 'select(.calls >= 120) | .key' | sed 's/ [a-z_]*[0-9]*=/ /; s/\.0K/K/g')" "fd=1 1K..2K
fd=1 4B..8B" "write is split by file and size without being asked" ||
	diag "$(jq -c '.blocks[] | [.name, .key, .calls]' sizes.json)"
report sizes --no-key write
is "$(keyed sizes write .key)" "" "--no-key write: one block"
is "$(block sizes write .calls)" 241 "of all its calls"

done_testing
