#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Scores, verdicts and causes are what the microbenchmarks know about themselves, whichever engine times the calls.
# ENGINES: only those.
. "$(dirname "$0")/lib.sh"
needs_probes

# program  functions to trace, comma-separated
engines=${ENGINES:-kernel}
if [ -n "${ENGINES-}" ]; then
	:
elif [ "$(uname -m)" = x86_64 ] && "$ISPOT" bench --engine in-process >bench.out 2>&1; then
	engines="kernel auto in-process"
else
	skip "the same by the other engines" "none here: $(joined bench.out)"
fi

# Causes that may be unknown in process, as ispot-record(1) says: no page faults are counted, no CPUs sampled. Beside the kernel's probes samples
# are taken, which tell page faults and spinning, and threads are watched, by which a workload is told whose
# calls grow.
untold="pagefault-in-process/touch_pages word_count-in-process/wordcount_reduce spinlock-in-process/spin_acquire"
# And the functions that cannot be patched, which in process are left.
left="condvar-in-process/put_items"

# all_traced NAME: every function that was asked for is, unless it is named above
all_traced() {
	local f others=
	for f in $(jq -r '.not_traced[]?.name' "$1.json"); do
		[[ " $left " == *" $1/$f "* ]] || others+=" $f"
	done
	is "$others" "" "$1: no other function is left" || diag "$(jq -c .not_traced "$1.json")"
}

# as_is_true NAME PROGRAM RECORD-ARGS...
as_is_true() {
	local name=$1 program=$2 reported
	shift 2
	record_truth "$name" "$@" -- "$MB/$program"
	reported=$?
	is "$status" 0 "$name: status" || diag "$name.err"
	if [ "$reported" = 0 ]; then
		matches_truth "$name"
		nothing_lost "$name"
		all_traced "$name"
	else
		ok 1 "$name: report"
		diag "$name.report-err"
	fi
}

while read -r program functions; do
	patterns=()
	for f in ${functions//,/ }; do
		patterns+=(-F "$f")
	done
	for engine in $engines; do
		as_is_true "$program-$engine" "$program" --engine "$engine" "${patterns[@]}"
	done
done <<-'EOR'
	mutex locked_add
	spinlock spin_acquire,spin_release
	false_sharing bump_counter
	io_direct read_block
	condvar take_item,put_items
	barrier join_barrier
	pagefault touch_pages
	fsync append_record
	pipe read_message
	socket read_reply
	sleep back_off
	oversubscription crunch
	memory_bandwidth stream_block
	growing_list scan_list
	sized_work process_sized
	word_count wordcount_reduce
	contended cache_get,cache_evict,log_write,merge_stats,parse_request,hash_bytes,next_request
EOR

# What only counters can tell from one another: without them the function that is at work meanwhile is named,
# and what would decide. Of another's CPU time nothing is to be learnt, so ahead of it, and once more if need be.
by=ahead
named() { [ "$(block "$1" "$2" '| [.coactive // [] | .[] | select(.part == "inside") | .function] | index("'"$2"'") != null')" = true ]; }
# Whether calls met each other, and took longer for it, the program says itself where it can: on a busy
# machine threads hardly run at the same time.
slowed() {
	local out="with-$1.out"
	if ! grep -q '^together ' "$out"; then
		! within "$(block "with-$1" "$2" .sci)" 0+-0.1
		return
	fi
	awk -F'[ =]' '$1 == "together" || $1 == "alone" { calls[$1] = $3; median[$1] = $5 }
		END { exit !(calls["together"] > 0.15 * (calls["together"] + calls["alone"]) &&
			median["together"] > 1.3 * median["alone"]) }' "$out"
}
while read -r command function arguments; do
	program=$command${arguments:+_${arguments//[ -]/}}
	for _ in 1 2 3; do
		# shellcheck disable=SC2086 # arguments
		record "with-$program" -F "$function" -- "$MB/$command" $arguments
		report "with-$program"
		named "with-$program" "$function" && break
	done
	if ! named "with-$program" "$function" && ! slowed "$program" "$function"; then
		skip "$program: who is at work meanwhile" "here the threads do not slow each other"
		continue
	fi
	named "with-$program" "$function"
	ok $? "$program: the function that is at work meanwhile is named" ||
		diag "$(block "with-$program" "$function" '| [.sci, .causes, .coactive] | tojson')"
	if [ "$(trace "with-$program" .pmu)" = none ]; then
		block "with-$program" "$function" '| .causes[] | select(.kind == "unknown") | .evidence[]' >evidence
		like evidence "^$function at work in other threads: " "$program: it is evidence"
		like evidence '\(record -e sharing\): cache-sharing; .*\(record -e memory\): memory-bandwidth' \
			"$program: and so is what would decide"
	fi
done <<-'EOR'
	false_sharing bump_counter
	false_sharing bump_counter --same 1
	memory_bandwidth stream_block -n 1001
EOR

# Where the machine has nodes and hyperthreads.
while read -r program function; do
	record_truth "$program" -F "$function" -- "$MB/$program"
	is "$status" 0 "$program: status" || diag "$program.err"
	if grep -q 'nothing to measure' "$program.out"; then
		skip "$program: its score" "$(grep 'nothing to measure' "$program.out")"
		continue
	fi
	matches_truth "$program" calls sci
	nothing_lost "$program"
done <<-'EOR'
	numa walk_buffer
	siblings fill_units
EOR

done_testing
