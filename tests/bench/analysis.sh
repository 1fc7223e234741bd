# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# How fast recordings are read, paired and scored, and how that grows with records, threads and
# functions. Synthetic recordings (trace_speed.c), and one that data.sh recorded, if it is there.

ANALYSIS_MILLIONS=${ANALYSIS_MILLIONS:-100}
ANALYSIS_CALLS=${ANALYSIS_CALLS:-500000} # of the program that is recorded; ten records each
SPEED=$ROOT/build/bench/trace_speed

# speed OUT -i FILE | ARGS...: the least of each figure over the rounds, of a recording or of one that is made
speed() {
	local out=$1 file=speed.data i
	shift
	if [ "$1" = -i ]; then
		file=$2
	fi
	"$SPEED" -o "$file" "$@" >"$out.all" || return
	for ((i = 1; i < ROUNDS; i++)); do
		"$SPEED" -i "$file" >>"$out.all" || return
	done
	awk '!($1 in v) { order[++n] = $1 } !($1 in v) || $2 < v[$1] { v[$1] = $2 }
		END { for (i = 1; i <= n; i++) print order[i], v[order[i]] }' "$out.all" >"$out"
	rm -f "$file"
}

rate() { compute "1000 / $(value "$1" "$2")" 1f; } # million records per second

# grows LABEL GOAL FEW MANY: time a record and memory of the whole report
grows() {
	row "$1: report, ns a record" "$(value report_ns "$3") -> $(value report_ns "$4")" ns
	row "  ratio" "$(compute "$(value report_ns "$4") / $(value report_ns "$3")")" "" "<=" "$2"
	row "  memory" "$(($(value report_kb "$3") / 1024)) -> $(($(value report_kb "$4") / 1024))" MB
}

bench_analysis() {
	head_line "Analysis of $ANALYSIS_MILLIONS million records (nested calls of 40 functions, at random)"
	[ -x "$SPEED" ] || { echo "# no $SPEED; run make bench"; return; }
	speed many -n "$ANALYSIS_MILLIONS"
	row "million records/s and core: reading" "$(rate read_ns many)" ""
	row "  and pairing, scores, percentiles" "$(rate pair_ns many)" "" ">=" 20
	"$ISPOT" record -q -o calls.data -F outer -F middle -F inner -- "$MB/exact" -n "$ANALYSIS_CALLS" >/dev/null 2>&1
	speed calls -i calls.data
	row "  the same of a program's calls ($(value records calls) records of exact)" "$(rate pair_ns calls)" "" ">=" 20
	row "  and causes, call stacks, co-activity (report)" "$(rate report_ns many)" ""
	row "with all CPUs, elapsed: to percentiles" "$(rate pair_wall_ns many)" ""
	row "  the whole report" "$(rate report_wall_ns many)" "" ">=" 10
	row "bytes per record on disk" "$(value bytes many)" "" "<=" 6
	row "peak memory of the report" "$(($(value report_kb many) / 1024))" MB "<=" 150
	speed one -n 1
	grows "1 -> $ANALYSIS_MILLIONS million records" 1.25 one many
	speed few -n 10 -t 2
	speed threads -n 10 -t 1000
	grows "2 -> 1000 threads" 1.5 few threads
	speed single -n 10 -f 1
	speed functions -n 10 -f 1000 -g 8
	grows "1 -> 1000 functions, each calling 8" 3 single functions
	speed all -n 10 -f 1000
	row "1000 functions, each calling any: report, ns a record" "$(value report_ns all)" ns
}
