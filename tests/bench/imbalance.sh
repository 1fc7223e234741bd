# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What `ispot imbalance` costs: clustering, how long and how that grows with events and threads
# (the paper's figure 9 has about 10 s for 2,000 events); and counting under valgrind, beside the
# paper's Pin (4 to 127 times slower), its analysis included.

CLUSTER_SPEED=$ROOT/build/bench/cluster_speed

# cluster_row EVENTS THREADS KIND [GOAL]
cluster_row() {
	local seconds
	seconds=$("$CLUSTER_SPEED" "$1" "$2" "$3" | awk '$1 == "seconds" { print $2 }')
	row "clustering $1 events x $2 threads, $3" "$seconds" s ${4:+"<=" "$4"}
}

# seconds COMMAND...: elapsed
seconds() {
	local begin
	begin=$(date +%s%N)
	"$@" >/dev/null 2>&1
	compute "($(date +%s%N) - $begin) / 1e9" 3f
}

# slowdown CASE OPTIONS...: of 300 rounds, short ones with case tree, each a dump per thread
slowdown() {
	local run=("$MB/uneven" --case "$1" -n 300) native counted
	native=$(seconds "${run[@]}")
	counted=$(seconds "$ISPOT" imbalance "${@:2}" -- "${run[@]}")
	row "counting, uneven $1${2:+ $2}: times slower" "$(compute "$counted / $native" 1f)" ""
	row "  native, counted" "$native, $counted" s
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
	slowdown loops
	slowdown loops --caches
	slowdown tree
}
