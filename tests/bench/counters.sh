# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What counters, and the arguments of one call in 16, add to a traced call of a nop5 function. Events of
# the kernel stand in for those of a PMU, which is read the same way.

COUNTERS_CALLS=${COUNTERS_CALLS:-200003}

# name of the file, -e's words, label
counters_choices() {
	cat <<-'EOR'
	default - default, with arguments of one call in 16
	arguments arguments these arguments alone
	task1 page-faults 1 of the task, every call
	task4 software 4 of the task, every call
	perf1 cpu-clock 1 perf event, every call
	perf4 cpu-clock,task-clock,alignment-faults,emulation-faults 4 perf events, every call
	EOR
	[ ! -e /sys/bus/event_source/devices/msr/events/tsc ] || echo 'tsc msr/tsc/ msr/tsc/, every call'
	[ ! -e /sys/bus/event_source/devices/msr/events/tsc ] || echo 'stamp -k -k tsc, every call'
	"$ISPOT" list --json | jq -e '.counters[] | select(.name == "cycles" and .usable)' >/dev/null &&
		echo 'auto auto -e auto, every call'
}

# CPU time, which other programs on the machine disturb less than the clock: ns per call.
counters_ns() {
	local words=(-e "$1" --no-key '*')
	case $1 in
	-) words=() ;;
	arguments) words=(-e none) ;;
	-k) words=(-e none --no-key '*' -k tsc) ;;
	esac
	"$ISPOT" record -o ispot.data "${words[@]}" -F entry_nop5 -- "$MB/entry_classes" --only entry_nop5 \
		-n "$COUNTERS_CALLS" >ispot.out 2>ispot.err
	echo "$(($(value cpu_ns ispot.out) / COUNTERS_CALLS))"
}

# Each choice right behind a run that counts nothing.
counters_round() {
	local file events none some
	while read -r file events _; do
		none=$(counters_ns none)
		some=$(counters_ns "$events")
		echo "$none" >>counters.none
		echo "$((some - none))" >>"counters.$file.ns"
		echo "$((100 * (some - none) / none))" >>"counters.$file.percent"
	done < <(counters_choices)
}

bench_counters() {
	local file label
	head_line "What counters add to a traced call's CPU time (medians of $ROUNDS, each beside a run without)"
	for _ in $(seq "$ROUNDS"); do
		counters_round
	done
	row "a traced call that counts nothing" "$(median <counters.none)" ns
	while read -r file _ label; do
		row "$label: adds" "$(median <"counters.$file.ns")" ns
		row "$label: adds" "$(median <"counters.$file.percent")" % \
			${file:+$([ "$file" != default ] || echo "<= 15")}
	done < <(counters_choices)
}
