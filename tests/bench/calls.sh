# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# ns per traced call beside perf record (entry and return events) and a bpftrace latency histogram.

LIBC=$(ldd "$MB/call_cost" | awk '$1 ~ /^libc\.so/ { print $3; exit }')
LIBC=$(readlink -f "$LIBC")
CALLS=${CALLS:-200003}

# command_of FUNCTION: the words of the command that calls it
command_of() {
	case $1 in
	pthread_mutex_lock) echo "$MB/call_cost --function pthread_mutex_lock -n $CALLS" ;;
	*) echo "$MB/entry_classes --only $1 -n $CALLS" ;;
	esac
}
object_of() {
	case $1 in
	pthread_mutex_lock) echo "$LIBC" ;;
	*) echo "$MB/entry_classes" ;;
	esac
}

# perf_ns FUNCTION COMMAND...
perf_ns() {
	perf record -m 8M -e "$GROUP:$1_entry" -e "$GROUP:$1_exit" -o perf.data -- \
		"${@:2}" >perf.out 2>perf.err
	ns_per_call perf.out
}

# The kernel's traps with next to nothing done in them: what no tool can be below.
trap_ns() {
	perf stat -e "$GROUP:$1_entry" -e "$GROUP:$1_exit" -o perf.stat -- "${@:2}" >perf.out 2>perf.err
	ns_per_call perf.out
}

bpftrace_ns() {
	bpftrace -q -c "$(command_of "$1")" -e "
		uprobe:$(object_of "$1"):$1 { @start[tid] = nsecs; }
		uretprobe:$(object_of "$1"):$1 /@start[tid]/ { @ns = hist(nsecs - @start[tid]); delete(@start[tid]); }
		" >bpftrace.out 2>bpftrace.err
	ns_per_call bpftrace.out
}

# One round of all tools on one function; each tool's figures collect in FUNCTION.TOOL.
calls_round() {
	local command
	read -ra command <<<"$(command_of "$1")"
	"${command[@]}" >alone.out && ns_per_call alone.out >>"$1.alone"
	ispot_ns -F "$1" -- "${command[@]}" >>"$1.ispot"
	if command -v perf >/dev/null; then
		perf_ns "$1" "${command[@]}" >>"$1.perf"
		trap_ns "$1" "${command[@]}" >>"$1.trap"
	fi
	if command -v bpftrace >/dev/null; then
		bpftrace_ns "$1" >>"$1.bpftrace"
	fi
}

# added FUNCTION TOOL: the median of what the tool added to a call
added() {
	[ -s "$1.$2" ] || { echo nan && return; }
	compute "$(median <"$1.$2") - $(median <"$1.alone")" 0f
}

# calls_rows FUNCTION LABEL PERF-GOAL BPFTRACE-GOAL
calls_rows() {
	local ispot perf bpftrace trap
	ispot=$(added "$1" ispot) perf=$(added "$1" perf) bpftrace=$(added "$1" bpftrace)
	trap=$(added "$1" trap)
	row "$2: ispot" "$ispot" ns
	row "$2: perf record, both events" "$perf" ns
	row "$2: bpftrace, histogram" "$bpftrace" ns
	row "$2: counted by perf stat: the traps" "$trap" ns
	row "$2: ispot / perf" "$(compute "$ispot / $perf")" "" "<=" "$3"
	row "$2: ispot / bpftrace" "$(compute "$ispot / $bpftrace")" "" "<=" "$4"
}

bench_calls() {
	local f
	head_line "One traced call, entry and exit, one thread (medians of $ROUNDS, tools in turn)"
	for f in entry_nop5 entry_push entry_endbr entry_jcc; do
		add_points $f "$MB/entry_classes" $f || die "no probe on $f"
	done
	add_points pthread_mutex_lock "$LIBC" pthread_mutex_lock || die "no probe on pthread_mutex_lock"
	for _ in $(seq "$ROUNDS"); do
		for f in entry_nop5 entry_push entry_endbr entry_jcc pthread_mutex_lock; do
			calls_round $f
		done
	done
	remove_points
	calls_rows entry_nop5 "nop5" 0.85 1.1
	calls_rows entry_push "push" 0.85 1.1
	calls_rows entry_endbr "endbr64, push" 0.4 0.4
	calls_rows entry_jcc "mov, jcc" 0.4 0.4
	calls_rows pthread_mutex_lock "libc's pthread_mutex_lock" 0.4 0.4
	echo "  (Where the traps are most of a call, as in a VM whose exceptions are dear, no tool can be"
	echo "   far below another: the ratios of nop5 and push are then near 1.)"
	echo "  (Single-stepping, which perf and bpftrace pay on the last three, is dear in this VM"
	echo "   if it is one; on bare metal the ratios there are nearer to 1.)"
}
