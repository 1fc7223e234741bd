# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# How often `ispot diff` is wrong: pairs of equal runs, and pairs whose second run holds its lock a
# tenth longer. microbench/mutex waits by the clock, so the work is the same on any machine.

# one_run DELAY FILE
one_run() {
	"$ISPOT" record -q -o "$2" -F locked_add "$MB/mutex" -t 1 -n 4001 -d "$1" >/dev/null 2>&1 ||
		die "cannot record microbench/mutex"
}

# changes BEFORE AFTER: whether diff sees one
changes() { "$ISPOT" diff --json "$1" -- "$2" | jq '.slower + .faster > 0'; }

bench_diff() {
	local equal=0 planted=0 pairs=${PAIRS:-20}
	head_line "ispot diff, $pairs pairs of runs of microbench/mutex"
	for ((i = 0; i < pairs; i++)); do
		one_run 100 a.data
		one_run 100 b.data
		one_run 110 c.data
		[ "$(changes a.data b.data)" = true ] && equal=$((equal + 1))
		[ "$(changes a.data c.data)" = true ] && planted=$((planted + 1))
	done
	row "equal runs that show a change" $equal "of $pairs" "<=" $((pairs / 20))
	row "holding the lock 10 % longer is seen" $planted "of $pairs" ">=" $((pairs * 9 / 10))
}
