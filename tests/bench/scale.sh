# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# How ispot's cost grows: functions selected, idle threads, forked processes, threads created,
# how long attaching and detaching take, and the shortest recording.

SCALE_CALLS=${SCALE_CALLS:-220000}

# against ALONE A B, files of ns per call, a line a round: the median of (B - alone) / (A - alone) of
# the same round. Half a minute later a neighbour may have made everything slower.
# A round in which one of them failed makes it nan.
against() {
	paste -d' ' "$1" "$2" "$3" | awk '
		NF != 3 || /nan/ { failed = 1; next }
		{ ratio[++n] = ($3 - $1) / ($2 - $1) }
		END { if (failed) print "nan"; else for (i = 1; i <= n; i++) print ratio[i] }' | median
}

untraced_ns() { "$MB/call_cost" -n "$SCALE_CALLS" >alone.out && ns_per_call alone.out || echo nan; }

# added FILE: what tracing adds to a call, of a file of ns per call beside alone.ns
added() { compute "$(median <"$1") - $(median <alone.ns)" 0f; }

# compare_two LABEL GOAL A B: A and B are names of functions that print ns per call, traced
compare_two() {
	: >a.ns && : >b.ns && : >alone.ns
	for _ in $(seq "$ROUNDS"); do
		untraced_ns >>alone.ns
		"$3" >>a.ns
		"$4" >>b.ns
	done
	row "$1" "$(added a.ns) -> $(added b.ns)" ns
	row "$1: ratio" "$(compute "$(against alone.ns a.ns b.ns)")" "" "<=" "$2"
}

one_function() { ispot_ns -F hot -- "$MB/call_cost" -n "$SCALE_CALLS"; }
many_functions() { ispot_ns -F hot -F 'many_*' -- "$MB/call_cost" -n "$SCALE_CALLS"; }
idle_1() { ispot_ns -F hot -- "$MB/call_cost" -n "$SCALE_CALLS" --idle 1; }
idle_500() { ispot_ns -F hot -- "$MB/call_cost" -n "$SCALE_CALLS" --idle 500; }

# create_ns RECORD-ARGS...: median pthread_create; no arguments: untraced
create_ns() {
	if [ $# = 0 ]; then
		"$MB/call_cost" --creates 500 >create.out
	else
		"$ISPOT" record -o create.data -F hot "$@" -- "$MB/call_cost" --creates 500 \
			>create.out 2>create.err
	fi
	value ns_per_create create.out
}

bench_creates() {
	local alone following without
	: >c.alone && : >c.following && : >c.without
	for _ in $(seq "$ROUNDS"); do
		create_ns >>c.alone
		create_ns -v >>c.following
		create_ns --no-inherit >>c.without
	done
	alone=$(median <c.alone)
	following=$(compute "($(median <c.following) - $alone) / 1000" 1f)
	without=$(compute "($(median <c.without) - $alone) / 1000" 1f)
	row "pthread_create, untraced" "$(compute "$alone / 1000" 1f)" us
	row "pthread_create, added while following children" "$following" us "<=" 50
	# None: what is left is the noise between two medians.
	row "pthread_create, added with --no-inherit" "$without" us "<=" "$(compute "$alone / 5000" 1f)"
}

# The function lies in the executable, which only the target and its forks map.
bench_forks() {
	local n
	rm -f forks.* && : >alone.ns
	for _ in $(seq "$ROUNDS"); do
		untraced_ns >>alone.ns
		for n in 0 10 100 500; do
			ispot_ns -F hot -- "$MB/call_cost" -n "$SCALE_CALLS" --forks $n >>forks.$n
		done
	done
	row "beside 0 forked processes" "$(added forks.0)" ns
	for n in 10 100 500; do
		row "beside $n forked processes, against none" \
			"$(compute "$(against alone.ns forks.0 forks.$n)")" \
			"($(added forks.$n) ns)" "<=" 1.10
	done
}

# 500 threads, 500 functions: from the command's start until its probes fire, and from the end of
# the recording to the command's end.
bench_attach() {
	local start end on off
	: >attach.on && : >attach.off
	"$MB/call_cost" --idle 500 --seconds 600 >target.out &
	local target=$!
	children+=("$target")
	sleep 1
	for _ in $(seq "$ROUNDS"); do
		start=$(monotonic)
		"$ISPOT" record -o attach.data -p "$target" -d 0.3 -F 'many_*' 2>attach.err ||
			{ echo "# attach: $(head -1 attach.err)" >&2; break; }
		end=$(monotonic)
		"$ISPOT" dump -i attach.data >attach.dump
		on=$(awk '$4 == "set-on" { print $1 / 1e9; exit }' attach.dump)
		off=$(grep -a '"kind": *"end"' attach.dump | jq '.end_ns / 1e9')
		compute "$on - $start" >>attach.on
		echo >>attach.on
		compute "$end - $off" >>attach.off
		echo >>attach.off
	done
	kill "$target"
	wait "$target" 2>/dev/null
	row "attach to 500 threads with 500 functions" "$(grep . attach.on | median)" s "<=" 1
	row "detach from them" "$(grep . attach.off | median)" s "<=" 1
}

# seconds COMMAND...: what it takes, by the wall
seconds() {
	local TIMEFORMAT=%R
	{ time "$@" >/dev/null 2>&1; } 2>&1
}

# What a recording takes beyond the program: most is calibrating, and closing events that have programs.
bench_shortest() {
	: >short.ispot && : >short.main && : >short.perf
	for _ in $(seq "$ROUNDS"); do
		seconds "$ISPOT" record -o short.data true >>short.ispot
		seconds "$ISPOT" record -o short.data -F hot -- "$MB/call_cost" -n 1000 >>short.main
		command -v perf >/dev/null && seconds perf record -o short.perf.data true >>short.perf
	done
	row "ispot record true" "$(median <short.ispot)" s
	row "ispot record -F hot -- call_cost -n 1000" "$(median <short.main)" s
	row "perf record true" "$(median <short.perf)" s
}

bench_scale() {
	head_line "How the cost grows (medians of $ROUNDS, in turn)"
	compare_two "1 -> 500 functions selected" 1.10 one_function many_functions
	compare_two "1 -> 500 idle threads" 1.10 idle_1 idle_500
	bench_forks
	bench_creates
	bench_attach
	bench_shortest
}
