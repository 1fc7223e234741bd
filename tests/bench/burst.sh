# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What --burst and -c leave of the cost of a hot function's calls.

# slowed RECORD-ARGS...: ns that one call takes, at the speed of the whole run
slowed() {
	"$ISPOT" record -o burst.data -F hot "$@" -- "$MB/call_cost" --seconds 3 >burst.out 2>burst.err || {
		echo nan
		return
	}
	compute "3e9 / $(value calls burst.out)" 2f
}

bench_burst() {
	local alone always burst sampled all one
	head_line "Recording a part of the calls (an empty function, medians of $ROUNDS)"
	: >alone.ns && : >always.ns && : >burst.ns && : >sampled.ns
	for _ in $(seq "$ROUNDS"); do
		"$MB/call_cost" --seconds 3 >burst.out
		compute "3e9 / $(value calls burst.out)" 2f >>alone.ns && echo >>alone.ns
		slowed >>always.ns && echo >>always.ns
		slowed --burst 100ms/1s >>burst.ns && echo >>burst.ns
		slowed -c 100 >>sampled.ns && echo >>sampled.ns
	done
	alone=$(grep . alone.ns | median) always=$(grep . always.ns | median)
	burst=$(grep . burst.ns | median) sampled=$(grep . sampled.ns | median)
	row "a call, untraced" "$alone" ns
	row "a call, always traced" "$always" ns
	row "a call, --burst 100ms/1s" "$burst" ns
	# The probes are in for a tenth of the time, and hardly a call is made then; 3 s may begin
	# and end with a burst.
	row "  speed lost, of the tenth that the probes are in" \
		"$(compute "(1 - $alone / $burst) / 0.1")" "" "<=" 2
	row "a call, -c 100" "$sampled" ns
	all=$(compute "$always - $alone" 0f) one=$(compute "$sampled - $alone" 0f)
	row "  of the cost, the part that the trap is" "$(compute "$one / $all")" "" "<=" 0.95
}
