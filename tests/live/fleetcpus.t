#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# ispot fleet record while CPUs come online and go: it watches those that come, says what they share where a
# file can, and goes on without those that go. It takes CPUs from whatever else runs, so only in guests:
# `make test-vm T=live-fleetcpus`.
. "$(dirname "$0")/lib.sh"
[ "${ISPOT_GUEST-}" ] || skip_all "it takes CPUs away: in guests only, make test-vm T=live-fleetcpus"
needs_probes
needs_helper neighbours
last=$(($(nproc) - 1))
is "$(cat /sys/devices/system/cpu/online)" "0-$last" "all CPUs are there"

turn() { echo "$2" >"/sys/devices/system/cpu/cpu$1/online"; } # CPU 0|1

# Who runs beside requests is on the CPU that comes, and nowhere else.
cp "$HELPERS/neighbours" requests
cp "$HELPERS/neighbours" hungry
taskset -c 0 ./requests 36000 >requests.out & children+=($!)
requests=$!
started $requests requests
# fleet_record NAME OPTIONS...: $recorder, which says things in NAME.err
fleet_record() {
	"$ISPOT" fleet record -F marker:request -p $requests "${@:2}" >"$1.out" 2>"$1.err" &
	recorder=$!
	children+=("$recorder")
}
hungry() { taskset -c "$last" ./hungry & hungry=$! && children+=("$hungry"); }
# classes NAME FILE...: of requests beside hungry
classes() {
	rm -f "$1.db"
	"$ISPOT" fleet reduce --db "$1.db" "${@:2}" >"$1.reduced" 2>&1 &&
		"$ISPOT" fleet report --db "$1.db" --json --min-samples 1 2>"$1.reported" | jq -r '[.pairs[]
			| select((.base | startswith("requests@")) and (.corunner | startswith("hungry@"))) | .class] | unique | join(" ")'
}
away() {
	kill "$hungry"
	wait "$hungry" 2>/dev/null
	turn "$last" 0
}

known() { [[ $1 =~ ^(core|cache|socket)$ ]]; }

# One stretch, of which the file is written at its end.
turn "$last" 0
fleet_record one -d 20 -o one.fleet
eventually compgen -G 'ispot-fleet.*/ispot.data' >one.trace
ok $? "a recording begins" || diag one.err
sleep 2
turn "$last" 1
hungry
wait "$recorder"
is $? 0 "status" || diag one.err
like one.err "CPU $last came online while recording: it is watched" "a CPU that comes is said"
known "$(classes one one.fleet)"
ok $? "and watched" || diag "$(classes one one.fleet)" "$(cat one.err)"
away

# Several, and one file that was begun before.
fleet_record parts -d 600 --duty 1s/1001ms -o parts.fleet
eventually [ -s parts.fleet ]
ok $? "a file is begun" || diag parts.err
turn "$last" 1
hungry
beside() { [ -n "$(classes parts parts.fleet)" ]; }
eventually beside
ok $? "a CPU that comes later is watched, too" || diag parts.err
kill -TERM "$recorder"
wait "$recorder"
is $? 0 "until it is asked to end" || diag parts.err
is "$(classes parts parts.fleet)" other "of a file that was begun a CPU that comes shares nothing" || diag parts.err
like parts.err "does not say what CPUs share that came" "which is said"
away

fleet_record days --dir days --duty 1s/1001ms
eventually [ -e days/samples-00000001.fleet ]
ok $? "a recording without end begins" || diag days.err
turn "$last" 1
hungry
seen() { [ -e days/samples-00000002.fleet ] && [ -n "$(classes days days/samples-00000002.fleet)" ]; }
eventually seen
ok $? "a CPU that comes begins a file" || diag days.err
known "$(classes days days/samples-00000002.fleet)"
ok $? "which says what it shares" || diag "$(classes days days/samples-00000002.fleet)"
away
size=$(stat -c %s days/samples-00000002.fleet)
grows() { [ "$(stat -c %s days/samples-00000002.fleet)" -gt "$((size + $1))" ]; }
sleep 3
eventually grows 4096
ok $? "it goes on when a CPU goes" || diag days.err
turn "$last" 1
sleep 5
kill -TERM "$recorder"
wait "$recorder"
is $? 0 "it ends when it is asked to" || diag days.err
[ ! -e days/samples-00000003.fleet ]
ok $? "what comes back is known" || diag days.err
done_testing
