# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Why the points of an event are written by ispot itself, and not by libtracefs, which does the rest in tracefs.

bench_points() {
	local points=$ROOT/build/bench/points

	head_line "2,000 points of an event (medians of $ROUNDS, in turn)"
	[ -x "$points" ] || die "no $points; run make bench"
	for _ in $(seq "$ROUNDS"); do
		"$points" 2000 >points.out || die "no points could be made"
		awk '$1 == "batched" { print $2 }' points.out >>points.batched
		awk '$1 == "single" { print $2 }' points.out >>points.single
	done
	row "a point, 40 to a write" "$(compute "$(median <points.batched) / 1000" 1f)" us
	row "a point, one by one through libtracefs" "$(compute "$(median <points.single) / 1000" 1f)" us
	row "one by one / 40 to a write" "$(compute "$(median <points.single) / $(median <points.batched)" 1f)" ""
}
