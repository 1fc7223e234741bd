# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What `ispot imbalance` computes: clustering, how long and how that grows with events and threads.
# The paper's figure 9 has about 10 s for 2,000 events.

CLUSTER_SPEED=$ROOT/build/bench/cluster_speed

# cluster_row EVENTS THREADS KIND [GOAL]
cluster_row() {
	local seconds
	seconds=$("$CLUSTER_SPEED" "$1" "$2" "$3" | awk '$1 == "seconds" { print $2 }')
	row "clustering $1 events x $2 threads, $3" "$seconds" s ${4:+"<=" "$4"}
}

bench_imbalance() {
	head_line "Clustering for ispot imbalance, CPU time"
	[ -x "$CLUSTER_SPEED" ] || { echo "# no $CLUSTER_SPEED; run make bench"; return; }
	for kind in alike random; do
		cluster_row 500 64 $kind
		cluster_row 2000 8 $kind
		cluster_row 2000 64 $kind 1
		cluster_row 5000 64 $kind
		cluster_row 20000 64 $kind 60
	done
}
