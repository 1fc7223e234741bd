#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# --burst: scores and counts are of the time that was seen, and in between the program is left alone.
. "$(dirname "$0")/lib.sh"
needs_probes

# near_truth NAME: the half that was seen need not have been as busy as the whole
near_truth() {
	local want
	want=$(truth "$1" | awk '$2 == "sci" { sub(/[+]-.*/, "", $3); print $3 }')
	within "$(block "$1" back_off .sci)" "${want:-none}+-0.25"
	ok $? "$1: SCI of back_off is about $want" || diag "got: $(block "$1" back_off .sci)"
}

# A call takes 0.1 ms, one in three a millisecond more: 3001 calls last for over a second.
record seen --burst 100ms/200ms -F back_off -- "$MB/sleep"
is "$status" 0 "seen: status"
report seen
ok $? "seen: report" || diag seen.report-err
near_truth seen
nothing_lost seen
all=$(truth seen | awk '$2 == "calls" { print $3 }')
share=$(jq --argjson all "$all" '(.blocks[] | select(.name == "back_off") | .calls) / $all /
	((.threads | map(.observed_ns) | max) / .trace.duration_ns)' seen.json)
within "$share" 1+-0.3
ok $? "seen: calls per observed time" || diag "got: $share of what they should be"
"$ISPOT" dump -i seen.data | awk '
	$4 == "set-on" { on = 1; n++ }
	$4 == "set-off" { on = 0; edge = $1 }
	# a probe that was being handled at the edge, on another CPU
	$4 == "entry" && !on && $1 > edge + 100000 { stray++ }
	END { print n + 0, stray + 0 }' >edges
read -r bursts stray <edges
[ "$bursts" -ge 4 ]
ok $? "seen: several bursts" || diag "got: $bursts"
is "$stray" 0 "seen: no call between them"
jq -r '.notices[]' seen.json >seen.notices
like seen.notices "in the whole recording the probes were in for .* in [0-9]+ bursts" "seen: the report says how long"

"$ISPOT" record -o once.data --burst 10s/20s -F hot -- "$MB/call_cost" --seconds 1 >once.out 2>once.err
"$ISPOT" report -i once.data --json | jq -r '.notices[]' >once.notices
like once.notices "in 1 burst:" "one burst is one"

# An empty function, called as fast as it goes: a trap makes it a thousand times slower.
"$ISPOT" record -o always.data -F hot -- "$MB/call_cost" --seconds 2 >always.out 2>always.err
"$ISPOT" record -o rarely.data --burst 20ms/1s -F hot -- "$MB/call_cost" --seconds 2 >rarely.out 2>rarely.err
always=$(awk '$1 == "calls" { print $2 }' always.out) rarely=$(awk '$1 == "calls" { print $2 }' rarely.out)
[ "$rarely" -gt $((20 * always)) ]
ok $? "between bursts it runs at its own speed" || diag "$always calls in 2 s, $rarely with --burst"

# Threads and processes that are born between two bursts are met by the next.
"$MB/spawner" >/dev/null 2>&1 &
spawner=$!
children+=("$spawner")
record attached --burst 100ms/300ms -p $spawner -d 2 -F spawned_call
is "$status" 0 "attached: status"
report attached
calls=$(block attached spawned_call .calls)
[ "$calls" != null ] && [ "$calls" -gt 0 ]
ok $? "attached: calls of new threads" || diag attached.err
kill $spawner

record forks --burst 50ms/100ms --no-inherit -F back_off -- "$MB/sleep" -n 1001
report forks
near_truth forks

for bad in 1s 1s/1s 0/1s 1ms/1s 2s/1s x/1s 10ms/; do
	record bad --burst $bad -F main -- "$MB/exact"
	is "$status" 125 "--burst $bad: status"
	like bad.err "^ispot: record: --burst" "--burst $bad: said"
done
record bad --burst 10ms/1s -- "$MB/exact"
like bad.err "name them with -F" "--burst without -F"

done_testing
