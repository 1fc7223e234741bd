#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The recorder killed at random moments: the target goes on, what it called more than a second before (not counted what
# the recorder waited for a CPU) is in the file, nothing traps any more, the next start sweeps. And files that cannot grow.
# ROUNDS: how many kills (12; 100 for a long run), SEED: of their moments.
. "$(dirname "$0")/lib.sh"
needs_probes

ROUNDS=${ROUNDS:-12}
SEED=${SEED:-$RANDOM}
RANDOM=$SEED
echo "# SEED=$SEED ROUNDS=$ROUNDS"
cp "$MB/spawner" own_spawner
cp "$ISPOT" own_ispot
ISPOT=$DIR/own_ispot
tracefs=$(awk '$3 == "tracefs" { print $2; exit }' /proc/mounts)
# Other recorders may be at work on this machine: only what is in our own files counts.
ours() { grep -cF "$DIR/own_" "$tracefs/uprobe_events" 2>/dev/null; }
# traps PID: how many bytes of its program's text in memory are not those of the file
traps() {
	local map
	map=$(awk '$2 ~ /x/ && /own_spawner$/ { print $1, $3; exit }' "/proc/$1/maps")
	[ -n "$map" ] || { echo 0 && return; } # it has not been started yet
	local range=${map% *} offset=$((16#${map#* }))
	local start=$((16#${range%-*})) end=$((16#${range#*-}))
	cmp -l <(dd "if=/proc/$1/mem" bs=4096 skip=$((start / 4096)) count=$(((end - start) / 4096)) 2>/dev/null) \
		<(dd if=own_spawner bs=4096 skip=$((offset / 4096)) count=$(((end - start) / 4096)) 2>/dev/null) 2>/dev/null |
		wc -l
}
no_traps() { [ "$(traps "$1")" = 0 ]; }
# waited PID: how long its first thread, which writes the file, has waited for a CPU so far, in ns
waited() { awk '{ print $2 }' "/proc/$1/schedstat"; }
# $now_ns; no process is started for it, which takes longer the busier the machine is
read_now() {
	local seconds rest
	read -r seconds rest </proc/uptime
	now_ns=${seconds/./}0000000
}

unread=0 dead=0 planted=0 left=0 missing=0 calls=0 early=0 oldest_ms=0
for i in $(seq "$ROUNDS"); do
	./own_spawner --seconds 300 --log "$i.log" >"$i.out" &
	target=$!
	children+=("$target")
	eventually is_started "$target" own_spawner
	"$ISPOT" record --engine kernel -o "$i.data" -F spawned_call -p "$target" 2>"$i.err" &
	recorder=$!
	children+=("$recorder")
	# Every other one certainly while it records, however long it took to begin.
	[ $((i % 2)) = 0 ] || eventually begun "$i"
	tenths=$((RANDOM % 30))
	[ "$tenths" -le 10 ] || sleep "$((tenths / 10 - 1)).$((tenths % 10))"
	waited_ns=$(waited "$recorder")
	sleep "$(awk -v t="$tenths" 'BEGIN { print (t < 10 ? t : 10) / 10 }')"
	planted=$((planted + $(traps "$target")))
	waited_ns=$(($(waited "$recorder") - waited_ns))
	read_now # before it: what was called a second before this was so before the kill, too
	killed_ns=$now_ns
	kill -KILL "$recorder"
	wait "$recorder" 2>/dev/null
	eventually no_traps "$target"
	left=$((left + $(traps "$target")))
	kill -TERM "$target" || dead=$((dead + 1))
	wait "$target" || dead=$((dead + 1))
	grep -q '^expect block=spawned_call' "$i.out" || dead=$((dead + 1))
	if ! "$ISPOT" dump -i "$i.data" >"$i.dump" 2>"$i.err" || ! grep -q ' set-on ' "$i.dump"; then
		# Killed before the recording began: there is nothing to be read.
		early=$((early + 1))
		rm -f "$i".*
		continue
	fi
	"$ISPOT" report --json -i "$i.data" >/dev/null 2>"$i.err" || unread=$((unread + 1))
	age_ms=$(((killed_ns - $(awk '$1 ~ /^[0-9]+$/ && $1 > last { last = $1 } END { printf "%.0f", last }' "$i.dump")) / 1000000))
	oldest_ms=$((age_ms > oldest_ms ? age_ms : oldest_ms))
	# What was called until a second before. In the time that it waited for a CPU meanwhile it wrote nothing.
	awk -v end=$((killed_ns - 1000000000 - waited_ns)) '$4 < end' "$i.log" >"$i.held"
	echo "$killed_ns 0 0/0 entry end" >>"$i.dump"
	read -r n lacking < <(awk -f "$ROOT/tests/live/missed.awk" "$i.dump" "$i.held")
	calls=$((calls + n)) missing=$((missing + lacking))
	[ "$lacking" = 0 ] || diag "kill $i: $lacking of $n missing"
	rm -f "$i".*
done
is "$dead" 0 "$ROUNDS kills: every target goes on and ends as it would"
[ "$planted" -gt 0 ] && [ "$left" = 0 ]
ok $? "no probe is left in them" || diag "$planted bytes of probes before the kills, $left after"
is "$unread" 0 "every file can be read ($early killed before they began)"
is "$missing" 0 "no call missing of $calls made more than a second before"
echo "# the oldest end of a file was ${oldest_ms} ms before its kill"

# Before it begins, too: while it measures what probes cost, with processes of its own.
for _ in $(seq 20); do
	"$ISPOT" record --engine kernel -o start.data -F outer -- "$MB/exact" -n 11 >/dev/null 2>&1 &
	recorder=$!
	sleep "0.$((RANDOM % 50 + 10))"
	kill -KILL "$recorder" 2>/dev/null
	wait "$recorder" 2>/dev/null
done
no_recorder() { ! pgrep -f "^$DIR/own_ispot" >/dev/null; }
eventually no_recorder
ok $? "no process of the recorders is left" || pkill -KILL -f "^$DIR/own_ispot"

# A trap that was left would stand in the program's text; the file has none.
./own_spawner --seconds 300 --log after.log >after.out &
after=$!
children+=("$after")
started "$after" own_spawner
is "$(traps "$after")" 0 "no probe stands in a program started after the kills"
kill -TERM "$after"
wait "$after"
# Another recorder of this machine may be at that just now: it comes to its end.
for _ in $(seq 30); do
	record next -F outer -- "$MB/exact" -n 11
	[ "$status" = 0 ] && [ "$(ours)" = 0 ] && break
	sleep 1
done
is "$status" 0 "the next start"
is "$(ours)" 0 "the killed ones' leftovers are swept"

# ---- files that cannot grow ----

# kept NAME WORDS: the command's status, the reason said, and what there is can be read
kept() {
	is "$status" 0 "$1: the command's status" || diag "$1.err"
	like "$1.err" "$2" "$1: is said"
	report "$1"
	ok $? "$1: what there is can be read" || diag "$1.report-err"
	[ "$(trace "$1" .calls)" -gt 0 ]
	ok $? "$1: calls are there"
}

# fills NAME REASON: the file system that is mounted at ./limited, and is taken away then
fills() {
	trap 'umount limited 2>/dev/null; cleanup' EXIT
	"$ISPOT" record --engine kernel -o "limited/$1.data" -F inner -- "$MB/exact" -n 1000003 >"$1.out" 2>"$1.err"
	status=$?
	cp "limited/$1.data" "$1.data"
	umount limited
	kept "$1" "$2"
}

mkdir limited
if mount -t tmpfs -o size=512k none limited 2>/dev/null; then
	fills full 'No space left'
else
	skip "disk full" "tmpfs cannot be mounted"
fi

# A quota that root has, too.
truncate -s 128M quota.img
if mkfs.btrfs -q quota.img >mkfs.err 2>&1 && mount -o loop quota.img limited 2>mount.err; then
	btrfs quota enable limited && btrfs qgroup limit 300K limited
	fills quota 'quota exceeded'
else
	skip "quota" "no btrfs here"
fi

# A limit of the shell's, in blocks of 1 KiB.
(
	ulimit -f 300
	"$ISPOT" record --engine kernel -o limit.data -F inner -- "$MB/exact" -n 1000003 >limit.out 2>limit.err
)
status=$?
kept limit 'File too large; .*ulimit -f'

record max_size --max-size 200K -F inner -- "$MB/exact" -n 1000003
kept max_size 'largest size'

"$ISPOT" record --engine kernel -o - -F inner -- "$MB/exact" -n 1000003 2>pipe.err | head -c 1000000 >pipe.data
status=${PIPESTATUS[0]}
kept pipe 'reader has gone'

# ---- two at once ----

"$ISPOT" record --engine kernel -o one.data -F inner -- "$MB/exact" -n 200003 >one.out 2>one.err &
first=$!
record two -F inner -- "$MB/exact" -n 200003
wait "$first"
is "$? $status" "0 0" "two recorders on two targets"
for name in one two; do
	report $name
	is "$(block $name inner .calls)" "$(truth $name | awk '$1 == "inner" { print $3 }')" \
		"two recorders on two targets: calls of $name"
	nothing_lost $name
done

./own_spawner --seconds 300 --log both.log >both.out &
target=$!
children+=("$target")
started "$target" own_spawner
"$ISPOT" record --engine kernel -o first.data -p "$target" -d 3 -F spawned_call 2>first.err &
first=$!
record second -p "$target" -d 1 -F spawned_call
is "$status" 0 "two recorders on one target: the shorter" || diag second.err
wait "$first"
is $? 0 "two recorders on one target: the longer" || diag first.err
kill -TERM "$target"
wait "$target"
for name in first second; do
	"$ISPOT" dump -i $name.data >$name.dump
	read -r n lacking < <(awk -f "$ROOT/tests/live/missed.awk" $name.dump both.log)
	[ "$n" -gt 0 ] && [ "$lacking" = 0 ]
	ok $? "$name: no call missed" || diag "$lacking of $n"
done

done_testing
