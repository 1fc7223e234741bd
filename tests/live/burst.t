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
"$ISPOT" dump -i seen.data | awk '
	$4 == "set-on" { on = 1; n++ }
	$4 == "set-off" { on = 0; edge = $1 }
	# all but one that was being handled at the edge, on another CPU
	$4 == "entry" && !on && after[edge, $2]++ { stray++ }
	END { print n + 0, stray + 0 }' >edges
read -r bursts stray <edges
[ "$bursts" -ge 2 ]
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
"$MB/spawner" --seconds 300 --log spawner.log >/dev/null 2>&1 &
spawner=$!
children+=("$spawner")
started "$spawner" spawner
record attached --burst 100ms/300ms -p $spawner -d 2 -F spawned_call
is "$status" 0 "attached: status"
report attached
kill $spawner
wait $spawner
"$ISPOT" dump -i attached.data >attached.dump
read -r calls lacking < <(awk -f "$ROOT/tests/live/missed.awk" attached.dump spawner.log)
[ "$calls" -gt 0 ]
ok $? "attached: the bursts hold calls" || diag attached.err
# A thread born while the probes go in may be met by the next burst only; all others are.
[ $((lacking * 50)) -le "$calls" ]
ok $? "attached: calls inside of the bursts are there" || diag "missed $lacking of $calls"
is "$(block attached spawned_call .calls)" "$(grep -c " entry " attached.dump)" "attached: the report counts them all"

record forks --burst 50ms/100ms --no-inherit -F back_off -- "$MB/sleep" -n 1001
report forks
near_truth forks # whose threads are held one by one

# A thread that is in a call at most edges: the ends that were not seen do not use up what -c keeps of
# open calls.
(while sleep 0.005; do echo || exit; done) 2>/dev/null |
	"$ISPOT" record -o edges.data -c 2 --burst 20ms/40ms -d 5 -F read -- cat >/dev/null 2>edges.err
late=$("$ISPOT" dump --events -i edges.data | awk '
	$4 == "set-on" { on[m++] = $1 }
	$4 == "entry" { entered[n++] = $1 }
	END { for (i = 0; i < n; i++) late += entered[i] > on[int(2 * m / 3)]; print late + 0 }')
[ "${late:-0}" -gt 2 ]
ok $? "-c 2 with --burst: calls are recorded to the end" || diag "$late in the last third" edges.err

for bad in 1s 1s/1s 0/1s 1ms/1s 2s/1s x/1s 10ms/; do
	record bad --burst $bad -F main -- "$MB/exact"
	is "$status" 2 "--burst $bad: status"
	like bad.err "^ispot: record: --burst" "--burst $bad: said"
done
record bad --burst 10ms/1s -- "$MB/exact"
like bad.err "name them with -F" "--burst without -F"

done_testing
