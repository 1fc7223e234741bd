# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A program that does little but give the CPU from thread to thread: the CPU time of a fixed number
# of sysbench's events, alone, recorded without -F, and without following children; in turn.

SWITCHES_ROUNDS=${SWITCHES_ROUNDS:-5}

# CPU ns of a recording's target
recorded_cpu() {
	"$ISPOT" record -q -o s.data "$@" >/dev/null 2>switches.err || head -1 switches.err >&2
	report_json s.data | jq .trace.cpu_ns
}

more_cpu() {
	row "$1" "$(paste -d' ' alone "$2" | awk '$1 > 0 { print 100 * ($2 / $1 - 1) }' | median |
		xargs printf '%.1f')" "% more CPU"
}

bench_switches() {
	local run=(sysbench threads --threads=4 --thread-locks=2 --events=200 --time=0 run)
	command -v sysbench >/dev/null || { echo "# switches: no sysbench here" >&2; return; }
	head_line "sysbench threads, without -F, budget 10 % (median of $SWITCHES_ROUNDS rounds, load $(cut -d' ' -f1 /proc/loadavg))"
	: >alone
	: >followed
	: >unfollowed
	for _ in $(seq "$SWITCHES_ROUNDS"); do
		times_of "${run[@]}" | awk '{ print $2 * 1e9 }' >>alone
		recorded_cpu -- "${run[@]}" >>followed
		recorded_cpu --no-inherit -- "${run[@]}" >>unfollowed
	done
	row "alone" "$(median <alone | awk '{ printf "%.2f", $1 / 1e9 }')" "s of CPU"
	more_cpu "recorded" followed
	more_cpu "recorded --no-inherit" unfollowed
	rm -f s.data s.data.old
}
