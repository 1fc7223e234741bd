# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What `ispot imbalance` costs: clustering, how long and how that grows with events and threads
# (the paper's figure 9 has about 10 s for 2,000 events); and counting, by valgrind and by the
# program itself, beside the paper's Pin (4 to 127 times slower), its analysis included.

EDGES=$ROOT/build/edges/uneven
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

# beside CASE N: valgrind, the program's own counters and the program alone in turn, a ratio of each
# round. The program's counters also without ispot's analysis.
beside() {
	local run=(--case "$1" -n "$2") log=$DIR/logs alone took i
	rm -f alone callgrind edges counting
	for ((i = 0; i < ROUNDS; i++)); do
		alone=$(seconds "$MB/uneven" "${run[@]}")
		echo "$alone" >>alone
		took=$(seconds "$ISPOT" imbalance --count callgrind -- "$MB/uneven" "${run[@]}")
		compute "$took / $alone" 1f >>callgrind
		echo >>callgrind
		took=$(seconds "$ISPOT" imbalance --count edges -- "$EDGES" "${run[@]}")
		compute "$took / $alone" 2f >>edges
		echo >>edges
		rm -rf "$log" && mkdir "$log"
		took=$(ISPOT_EDGES=$log seconds "$EDGES" "${run[@]}")
		compute "$took / $alone" 2f >>counting
		echo >>counting
	done
	row "uneven $1 -n $2, alone" "$(median <alone)" s
	row "  callgrind: times slower" "$(median <callgrind)" ""
	row "  edges: times slower" "$(median <edges)" ""
	row "  edges, without the analysis: times slower" "$(median <counting)" ""
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
	head_line "Counting by callgrind and by edges, beside the program alone; medians of $ROUNDS"
	for which in blocks root tree loops; do
		beside $which 1000
	done
}
