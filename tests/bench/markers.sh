# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Markers of probes/ispot.h: free while nobody records, and which of the two nops is the cheaper.

bench_markers() {
	local five one
	head_line "Markers (medians of $ROUNDS)"
	: >off.ns && : >marker.ns && : >usdt.ns
	for _ in $(seq "$ROUNDS"); do
		"$MB/markers" --cost 20000000 >cost.out && value ns_per_marker cost.out >>off.ns
		"$ISPOT" bench --json -t 1 >bench.json 2>bench.err || break
		jq '.[] | select(.class == "marker") | .full_p50_ns' bench.json >>marker.ns
		jq '.[] | select(.class == "usdt") | .full_p50_ns' bench.json >>usdt.ns
	done
	five=$(median <marker.ns) one=$(median <usdt.ns)
	row "a marker that nobody records" "$(compute "$(median <off.ns)")" ns "<=" 1
	row "a recorded pair, nop of 1 byte" "$one" ns
	row "a recorded pair, as in ispot.h" "$five" ns
	row "  against a nop of 1 byte" "$(compute "$five / $one")" "" "<=" 1.05
}
