#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# However a recording ends, its file can be read, its probes are gone, and others' are untouched.
. "$(dirname "$0")/lib.sh"
needs_probes
unset ISPOT_CALIBRATION # what is measured, and the probes for that, are looked for

tracefs=$(awk '$3 == "tracefs" { print $2; exit }' /proc/mounts)
if [ -z "$tracefs" ]; then
	tracefs=$DIR/tracefs
	mkdir "$tracefs"
	mount -t tracefs none "$tracefs" || skip_all "tracefs cannot be mounted"
	trap 'umount "$tracefs"; cleanup' EXIT
fi

# Copies of our own: what is on them is ours alone. A recorder calibrates on itself.
cp "$MB/spawner" "$DIR/own_spawner"
cp "$ISPOT" "$DIR/own_ispot"
ISPOT=$DIR/own_ispot
ours() { grep -c "$DIR/own_" "$tracefs/uprobe_events"; } # others may run this test as well

someone=ispotlivetest$$/other
offset=$(nm "$DIR/own_spawner" | awk '$3 == "main" { print $1 }')
echo "p:$someone $DIR/own_spawner:0x$offset" >>"$tracefs/uprobe_events"
is "$(ours)" 1 "somebody's own probe is there"

start() {
	"$ISPOT" record --engine kernel -o "$1.data" -F spawned_call -- ./own_spawner --seconds 300 --log "$1.log" \
		>"$1.out" 2>"$1.err" &
	recorder=$!
	children+=("$recorder")
	eventually child "$recorder" own_spawner
	eventually holds "$1"
}

# events_of FILE: the dynamic events of ispot's that have points in our copy of FILE
events_of() {
	sed -n "s,^[pr][0-9]*:\\(ispot_[^ ]*\\) $DIR/own_$1:.*,\\1,p" "$tracefs/uprobe_events" | sort -u
}

entries() { "$ISPOT" dump --events -i "$1.data" 2>/dev/null | grep -c ' entry '; }
# holds NAME: calls of more than a second are in the file
holds() {
	"$ISPOT" dump --events -i "$1.data" 2>/dev/null |
		awk '$4 == "entry" { if (!first) first = $1; last = $1 } END { exit !(first && last > first + 1e9) }'
}

for signal in TERM INT HUP; do
	start "end$signal"
	[ "$(ours)" -gt 1 ]
	ok $? "$signal: probes are there while recording"
	is "$(events_of spawner | wc -l)" 2 "$signal: those at instructions are in one event, returns in another"
	seen=$(entries "end$signal")
	kill -$signal "$recorder"
	sleep 0.5
	kill -TERM "$child" 2>/dev/null
	wait "$recorder"
	is "$(ours)" 1 "$signal: its probes are gone, the other's is not"
	report "end$signal"
	ok $? "$signal: the file can be read" || diag "end$signal.report-err"
	calls=$(block "end$signal" spawned_call .calls)
	[ "$calls" != null ] && [ "$calls" -ge "$seen" ]
	ok $? "$signal: it holds the calls" || diag "got: $calls, there were $seen before"
done

start killed
seen=$(entries killed)
kill -KILL "$recorder"
wait "$recorder" 2>/dev/null
report killed
ok $? "KILL: the file can be read" || diag killed.report-err
calls=$(block killed spawned_call .calls)
[ "$calls" != null ] && [ "$calls" -ge "$seen" ]
ok $? "KILL: it holds the calls that it had" || diag "got: $calls, there were $seen before"
kill -0 "$child"
ok $? "KILL: the target lives on"
kill -TERM "$child"
record next -F outer -- "$MB/exact" -n 11
is "$status" 0 "the next run"
is "$(ours)" 1 "the next run swept what the killed one left, and not the other's"

record kept -F outer -- "$MB/exact" -n 11
cp kept.data first.data
record kept -F outer -- "$MB/exact" -n 13
cmp -s first.data kept.data.old
ok $? "an existing file is kept as .old"

record limited --max-size 200K -F inner -- "$MB/exact" -n 1000003
is "$status" 0 "--max-size: the command's status"
size=$(stat -c %s limited.data)
[ "$size" -le $((300 * 1024)) ]
ok $? "--max-size: the file stays below" || diag "size: $size"
report limited
ok $? "--max-size: it can be read" || diag limited.report-err

is "$(zstd -dcq kept.data 2>/dev/null | head -c 4)" isct "the file is what zstd -dc reads"
awk 'END { exit !NR }' <(zstd -dcq kept.data 2>/dev/null | grep -a '"kind"')
ok $? "its meta lines are text"

# Whoever waits for a recording's end waits for each event, as the kernel closes one at a time.
# The events of the calibration go while it records, and so are not waited for.
record early -v -- "$MB/contended" -n 14000
awk '/set 0 is off the target/ && !off { off = NR } /choice: / && !choice { choice = NR } END { exit !(off && off < choice) }' early.err
ok $? "without -F: the probes of the calibration go before functions are chosen" || diag early.err
is "$(ours)" 1 "without -F: all are gone afterwards"

record whole --engine kernel -F next_request -- "$MB/contended" -n 1401
report whole
# Two records each. What a full ring has no room for is counted.
is "$(($(trace whole .records) + $(trace whole .lost_records)))" 2802 \
	"of 1401 calls none of the last moment is missing, unless counted as dropped"
is "$(ours)" 1 "and the probes are gone"

echo "-:$someone" >>"$tracefs/uprobe_events"
is "$(ours)" 0 "nothing is left"
done_testing
