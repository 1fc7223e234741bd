# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What a call costs that is timed in process, beside the kernel's probes, in one run; and what a program
# may call in a second before records are lost. Times are the program's on a CPU: others on the machine
# do not count.

MANY=20000003 FEW=500009 RATE=10000000 SECONDS_PACED=3

# cpu_of FUNCTION CALLS [OPTION...]: ns of CPU a call, recorded with these options; without, alone
cpu_of() {
	local command=("$MB/entry_classes" --only "$1" -n "$2")
	if [ $# -gt 2 ]; then
		"$ISPOT" record -q -o cost.data "${@:3}" -F "$1" -- "${command[@]}" >cost.out 2>cost.err ||
			{ echo "# $(head -1 cost.err)" >&2 && echo nan && return; }
	else
		"${command[@]}" >cost.out
	fi
	printf "%s\n" "$(compute "$(value cpu_ns cost.out) / $2" 2f)"
}

inprocess_round() {
	cpu_of "$1" $MANY >>"$1.alone"
	cpu_of "$1" $MANY --engine in-process -c 1000000 >>"$1.passed"
	cpu_of "$1" $MANY --engine in-process >>"$1.inside"
	report_json cost.data | jq -r --arg f "$1" \
		'.blocks[] | select(.name == $f and .kind == "function") | .p99_ns - .p50_ns' >>"$1.spread"
	cpu_of "$1" $FEW >>"$1.alone_few"
	cpu_of "$1" $FEW --engine kernel >>"$1.kernel"
}

inprocess_rows() {
	local inside kernel
	inside=$(compute "$(median <"$1.inside") - $(median <"$1.alone")" 1f)
	kernel=$(compute "$(median <"$1.kernel") - $(median <"$1.alone_few")" 1f)
	row "$2: in process" "$inside" ns "<=" 30
	row "$2: in process, a call that is not recorded (-c)" \
		"$(compute "$(median <"$1.passed") - $(median <"$1.alone")" 2f)" ns "<=" 1
	row "$2: kernel's probes" "$kernel" ns
	row "$2: in process / kernel" "$(compute "$inside / $kernel" 3f)" "" "<=" 0.1
	row "$2: durations' p99 above p50" "$(median <"$1.spread")" ns "<=" 3
}

# One thread calls ten million times a second; prints the records lost, and the recorder's ns of CPU a call.
paced_round() {
	local both TIMEFORMAT='%U %S' calls
	both=$({ time "$ISPOT" record -q --engine in-process -o paced.data -F paced -- "$paced" $RATE $SECONDS_PACED \
		>paced.out 2>paced.err; } 2>&1)
	calls=$(value calls paced.out)
	report_json paced.data | jq '.trace.lost_records' >>paced.lost
	# shellcheck disable=SC2086 # two numbers
	set -- $both
	printf "%s\n" "$(compute "(($1 + $2) * 1e9 - $(value cpu_ns paced.out)) / $calls" 1f)" >>paced.recorder
	value late_ns paced.out >>paced.late
}

# For how many ms the threads of a running program stand while each 1,000 functions of its libraries are patched.
stop_round() {
	sleep 60 &
	local pid=$!
	children+=("$pid")
	sleep 0.1
	"$ISPOT" record -v --engine in-process -o stop.data -F '*' -F 'lib*:*' -p $pid -d 0.1 >stop.out 2>&1
	kill $pid
	awk '/ stood for / { for (i = 1; i < NF; i++) if ($i == "for") ms = $(i + 1) }
		/ calls of / { for (i = 1; i < NF; i++) if ($i == "of") n = $(i + 1) }
		END { if (n) printf "%.2f\n", ms * 1000 / n; else print "nan" }' stop.out >>stop.ms
}

bench_inprocess() {
	paced=$ROOT/build/bench/paced
	head_line "One call timed in process, beside the kernel's probes (medians of $ROUNDS, in turn)"
	for _ in $(seq "$ROUNDS"); do
		inprocess_round entry_nop5
		inprocess_round entry_push
	done
	inprocess_rows entry_nop5 "nop5"
	inprocess_rows entry_push "push"
	head_line "Ten million calls a second by one thread, for $SECONDS_PACED s, all of them recorded"
	[ -x "$paced" ] || make -s -C "$ROOT" build/bench/paced || die "paced cannot be built"
	[ "$(nproc)" -gt 1 ] || echo "  (The recorder has no CPU of its own here.)"
	for _ in $(seq "$ROUNDS"); do
		paced_round
	done
	row "records lost" "$(median <paced.lost)" "" "<=" 0
	row "the recorder's time on a CPU, per call" "$(median <paced.recorder)" ns "<=" 40
	row "the program was late by" "$(compute "$(median <paced.late) / 1e6" 1f)" ms
	head_line "Attaching to a program with all functions of its libraries"
	for _ in $(seq "$ROUNDS"); do
		stop_round
	done
	row "its threads stand, for each 1,000 functions" "$(median <stop.ms)" ms "<=" 2
}
