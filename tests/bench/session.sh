# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What an unsampled call costs with uprobe sessions (kernel >= 6.13), beside two probes: by a program
# that does nothing else, and as `record -c 100` has it of a program that forks and of one that does
# not.

# sampled_round FUNCTION: ns per call with all recorded, and with one in 100 by either way
sampled_round() {
	local command="$MB/entry_classes --only $1 -n 200003"
	$command >alone.out && ns_per_call alone.out >>"$1.alone"
	ispot_ns -F "$1" -- sh -c "$command; true" >>"$1.every"
	ispot_ns -c 100 -F "$1" -- sh -c "$command; true" >>"$1.both"
	# shellcheck disable=SC2086
	ispot_ns -c 100 -F "$1" -- $command >>"$1.session"
	report_json ispot.data | jq -r .trace.uprobe_sessions >>"$1.used"
}

sampled_rows() {
	local f alone way
	head_line "A call with ispot record -c 100, beside each call recorded (medians of $ROUNDS)"
	for f in entry_nop5 entry_push; do
		rm -f "$f".*
		for _ in $(seq "$ROUNDS"); do
			sampled_round $f
		done
		if grep -q false $f.used; then
			echo "  $f: no sessions here"
			continue
		fi
		alone=$(median <$f.alone)
		for way in every both session; do
			row "$f: $way" "$(compute "$(median <$f.$way) - $alone" 0f)" ns
		done
		row "$f: of both, a session costs" "$(compute "($(median <$f.session) - $alone) / \
			($(median <$f.both) - $alone)")" "" "<=" 0.8
	done
}

bench_session() {
	local class way
	head_line "A call that is not sampled: two probes, and a session that wants one return in 100"
	if [ "$(uname -m)" != x86_64 ] ||
		! gcc -O2 -o session "$ROOT/tests/bench/uprobe_session.c" 2>session.err ||
		! ./session >session.out 2>session.err; then
		echo "  not measured: $(head -1 session.err)"
		return
	fi
	for class in nop5 push; do
		for way in alone entry both session; do
			row "$class: $way" "$(value ${class}_$way session.out)" ns
		done
		row "$class: of both, a session costs" "$(compute "($(value ${class}_session session.out) - \
			$(value ${class}_alone session.out)) / ($(value ${class}_both session.out) - \
			$(value ${class}_alone session.out))")" ""
	done
	sampled_rows
}
