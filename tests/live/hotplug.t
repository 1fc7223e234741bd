#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# CPUs that come online and go while a recording runs: what was called on one before it had a ring is counted
# as lost and placed on it, all else is there. It takes CPUs from whatever else runs, so only in guests:
# `make test-vm` (x86-cpus of tests/vm/kernels.txt).
. "$(dirname "$0")/lib.sh"
[ "${ISPOT_GUEST-}" ] || skip_all "it takes CPUs away: in guests only, make test-vm T=live-hotplug"
needs_probes
needs_helper hostile
threads=$((2 * $(nproc)))
last=$(($(nproc) - 1))
is "$(cat /sys/devices/system/cpu/online)" "0-$last" "all CPUs are there"

turn() { echo "$2" >"/sys/devices/system/cpu/cpu$1/online"; } # CPU 0|1

# while_recording NAME COMMAND...: which runs some seconds after the recording began
while_recording() {
	"$ISPOT" record --engine kernel -o "$1.data" -F flood_call -- "$HELPERS/hostile" flood 8 "$threads" >"$1.out" 2>"$1.err" &
	local recorder=$!
	children+=("$recorder")
	eventually begun "$1"
	sleep 2
	"${@:2}"
	ok $? "$1: ${*:2}"
	wait "$recorder"
	is "$?" 0 "$1: status" || diag "$1.err"
	report "$1"
	"$ISPOT" dump --events -i "$1.data" >"$1.dump" 2>/dev/null
	is "$(($(trace "$1" .records) + $(calls_lost "$1")))" \
		"$((2 * $(truth "$1" | awk '$1 == "flood_call" { print $3 }')))" "$1: read + lost = made" || diag "$1.err"
}
calls_lost() { "$ISPOT" dump -i "$1.data" 2>/dev/null | sed -n 's/.*"kind":"end".*"lost_records":\([0-9]*\).*/\1/p'; }

turn "$last" 0
while_recording comes turn "$last" 1
awk -v cpu="$last" '$2 == cpu && $4 == "entry" { n++ } END { exit !n }' comes.dump
ok $? "comes: calls on CPU $last are recorded" || diag comes.err
# The program came before the CPU: what is lost there, and only there, is not from its start on.
is "$(awk '$4 == "lost" { print $2 }' comes.dump | sort -u)" "$last" "comes: only this CPU lost any"
awk '/ entry / && !first { first = $1 } $4 == "lost" { split($6, since, "="); bad += since[2] < first }
	END { exit bad > 0 }' comes.dump
ok $? "comes: they are placed where it came" || diag "$(grep -m3 ' lost ' comes.dump)" "$(grep -m1 ' entry ' comes.dump)"
jq -r '.notices[]' comes.json >comes.notices
like comes.notices "CPU $last came online while recording" "comes: it is said"

while_recording goes turn "$last" 0
nothing_lost goes
awk -v cpu="$last" '$2 == cpu && $4 == "entry" { n++ } END { exit !n }' goes.dump
ok $? "goes: what CPU $last recorded before is there"
turn "$last" 1

away_and_back() { turn "$last" 0 && sleep 1 && turn "$last" 1; }
while_recording returns away_and_back
nothing_lost returns

# A CPU that goes between being listed and having its rings, samples and counters opened ends no recording.
flip() { while [ ! -e enough ]; do turn "$last" 0 && turn "$last" 1; done; }
flip &
children+=($!)
for i in 1 2 3 4 5 6 7 8; do
	record "flip$i" -e cpu-clock,page-faults -F inner -- "$MB/exact" -t 1 -n 11
	is "$status" 0 "CPU $last comes and goes, recording $i: status" || diag "flip$i.err"
done
touch enough
wait $!
done_testing
