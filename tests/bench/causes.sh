# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What each microbenchmark loses its time to, and what the report says. Kinds that a busy machine
# adds to any block (cpu-wait, ispot) are shown beside it, not taken for an error.

# program  function  arguments: those that scheduling records can show
scheduled() {
	cat <<-'EOR'
		mutex locked_add
		condvar take_item
		barrier join_barrier
		pagefault touch_pages
		io_direct read_block
		io_direct write_block --writes 1
		fsync append_record
		pipe read_message
		socket read_reply
		sleep back_off
		oversubscription crunch
		growing_list scan_list
		sized_work process_sized
		word_count wordcount_reduce
	EOR
}

# the others: a spinning lock, and what only counters can tell apart
counted() {
	cat <<-'EOR'
		spinlock spin_acquire
		false_sharing bump_counter
		false_sharing bump_counter --same 1
		memory_bandwidth stream_block
		numa walk_buffer
		siblings fill_units
	EOR
}

expected_of() { sed -n "s/^expect block=$2 .*cause=\([a-z-]*\).*/\1/p" "$1.out"; }

# The reported causes of a block, largest first: KIND SHARE
causes_of() {
	"$ISPOT" report --json -i "$1.data" 2>/dev/null | jq -r --arg f "$2" \
		'.blocks[] | select(.kind == "function" and .name == $f) | .causes[] | "\(.kind) \(.share)"'
}

# Excess of a block in ns, and what of it is unknown, to be summed.
add_unknown() {
	"$ISPOT" report --json -i "$1.data" 2>/dev/null | jq -r --arg f "$2" '.blocks[] |
		select(.kind == "function" and .name == $f) |
		"\(.excess_ns) \(([.causes[] | select(.kind == "unknown") | .share] | add // 0) * .excess_ns)"'
}

# Ahead of what else the machine does, so that the cause is the program's own.
ahead() {
	if ! command -v setsid >/dev/null; then
		"$@"
		return
	fi
	setsid -w sh -c '{ echo -20 >/proc/self/autogroup; } 2>/dev/null; exec nice -n -20 "$@"' sh "$@"
}

# judge_causes PROGRAM FUNCTION ARGS...: a line of the matrix, and of the file wrong; 0 where the first cause is right
judge_causes() {
	local want first beside verdict
	ahead "$ISPOT" record -q -o "$1.data" -F "$2" -- "$MB/$1" "${@:3}" >"$1.out" 2>/dev/null || return
	want=$(expected_of "$1" "$2")
	if [ -z "$want" ]; then
		printf '  %-23s %s\n' "$1" "$(tail -1 "$1.out")"
		return 1
	fi
	causes_of "$1" "$2" >causes
	first=$(awk -v want="$want" '$1 == want || ($1 != "cpu-wait" && $1 != "ispot") {
		printf "%s %.0f %%", $1, 100 * $2; exit }' causes)
	beside=$(awk -v want="$want" '$1 == "cpu-wait" && $1 != want {
		printf "cpu-wait %.0f %%", 100 * $2 }' causes)
	case ${first%% *} in
	"$want") verdict=right ;;
	unknown) verdict="not known" ;;
	*) verdict=WRONG && echo "$1" >>wrong ;;
	esac
	printf '  %-23s %-16s %-22s %-16s %s\n' "$1${3:+ ${*:3}}" "$want" "${first:--}" "${beside:--}" "$verdict"
	[ "$verdict" = right ]
}

bench_causes() {
	local program function args right all round
	for round in 1 2 3; do
		head_line "causes, run $round: expected, reported, what the machine added"
		right=0 all=0
		: >unknown
		while read -r program function args; do
			all=$((all + 1))
			# shellcheck disable=SC2086 # arguments
			judge_causes "$program" "$function" $args && right=$((right + 1))
			add_unknown "$program" "$function" >>unknown
		done < <(scheduled)
		row "right, of $all that scheduling records show" "$right" "" ">=" $(((all * 9 + 9) / 10))
		row "unknown, of their excess" \
			"$(awk '{ all += $1; part += $2 } END { printf "%.1f", 100 * part / all }' unknown)" % "<=" 10
		head_line "causes that samples or counters tell, run $round"
		: >wrong
		while read -r program function args; do
			# shellcheck disable=SC2086 # arguments
			judge_causes "$program" "$function" $args
		done < <(counted)
		row "named wrongly" "$(wc -l <wrong)" "" "=" 0
	done
}
