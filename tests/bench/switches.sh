# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A program that does little but give the CPU from thread to thread: the CPU time of a fixed number
# of sysbench's events, alone, recorded without -F, with records of all switches whatever the budget
# says, and without following children; in turn.

SWITCHES_ROUNDS=${SWITCHES_ROUNDS:-5}

# CPU ns of a recording's target
recorded_cpu() {
	"$ISPOT" record -q -o s.data "$@" >/dev/null 2>switches.err || head -1 switches.err >&2
	report_json s.data | jq .trace.cpu_ns
}

# What switches and wakeups take of the target's CPU time, each, with or without a record, by the last recording; what is
# stated of the whole; and for how much of the time switches had records.
add_stated() {
	local records
	records=$("$ISPOT" dump --events -i s.data |
		awk '$4 ~ /^switch-(in|out)|^waking/ { n++ } $4 == "switches-on" { sub(/.*=/, "", $6); n += 2 * $5 + $6 } END { print n + 0 }')
	report_json s.data | jq --argjson n "$records" '.self_cost.scheduling_cost_ns / $n' >>each
	report_json s.data | jq '100 * .self_cost.overhead' >>stated
	report_json s.data | jq '.trace | 100 * (1 - (.switches_unrecorded_ns // 0) / .duration_ns)' >>with_records
}

more_cpu() {
	row "$1" "$(paste -d' ' alone "$2" | awk '$1 > 0 { print 100 * ($2 / $1 - 1) }' | median |
		xargs printf '%.1f')" "% more CPU"
}

bench_switches() {
	local run=(sysbench threads --threads=4 --thread-locks=2 "--events=${SWITCHES_EVENTS:-600}" --time=0 run)
	command -v sysbench >/dev/null || { echo "# switches: no sysbench here" >&2; return; }
	head_line "sysbench threads, without -F, budget 10 % (median of $SWITCHES_ROUNDS rounds, load $(cut -d' ' -f1 /proc/loadavg))"
	: >alone
	: >followed
	: >unfollowed
	: >each
	: >stated
	: >with_records
	: >all
	: >all_stated
	for _ in $(seq "$SWITCHES_ROUNDS"); do
		times_of "${run[@]}" | awk '{ print $2 * 1e9 }' >>alone
		recorded_cpu -- "${run[@]}" >>followed
		add_stated
		recorded_cpu --overhead 100 -- "${run[@]}" >>all
		report_json s.data | jq '100 * .self_cost.overhead' >>all_stated
		recorded_cpu --no-inherit -- "${run[@]}" >>unfollowed
	done
	row "alone" "$(median <alone | awk '{ printf "%.2f", $1 / 1e9 }')" "s of CPU"
	more_cpu "recorded" followed
	row "recorded: stated" "$(median <stated | xargs printf '%.1f')" "% overhead"
	row "recorded: time in which switches have records" "$(median <with_records | xargs printf '%.0f')" "%"
	more_cpu "recorded, all switches (--overhead 100)" all
	row "recorded, all switches: stated" "$(median <all_stated | xargs printf '%.1f')" "% overhead"
	row "recorded: a switch or wakeup" "$(median <each | xargs printf '%.0f')" ns
	more_cpu "recorded --no-inherit" unfollowed
	rm -f s.data s.data.old
}
