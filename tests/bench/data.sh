# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What is made is read or counted as lost, how large it is on disk, how fast it is read.

SATURATE_S=${SATURATE_S:-30}

bench_saturate() {
	local calls made read lost size
	"$ISPOT" record -o full.data -F hot -- "$MB/call_cost" -t 2 --seconds "$SATURATE_S" \
		>full.out 2>full.err || { echo "# saturate: $(head -1 full.err)" >&2; return; }
	calls=$(value calls full.out)
	report_json full.data >full.json
	made=$("$ISPOT" dump -i full.data | grep -a '"kind": *"end"' | jq .made_records)
	read=$(jq .trace.records full.json)
	lost=$(jq .trace.lost_records full.json)
	size=$(stat -c %s full.data)
	row "two threads on all CPUs for $SATURATE_S s: records made" "$made" ""
	row "  of the target's own count (2 a call)" "$((2 * calls))" "" "=" "$made"
	row "  read + lost" "$((read + lost))" "" "=" "$made"
	row "  lost" "$lost" "" "=" 0
	row "bytes per record on disk" "$(compute "$size / $read")" "" "<=" 6
}

# Wall time and peak memory of report, on the recording above and on a fifth of it.
bench_reading() {
	local records us kb small_kb
	[ -s full.data ] || return
	records=$(jq .trace.records full.json)
	read -r us kb < <(report_cost full.data)
	row "reading and scoring, million records per second" "$(compute "$records / $us")" "" ">=" 10
	row "  peak memory, $((records / 1000000)) million records" "$((kb / 1024))" MB "<=" 150
	"$ISPOT" record -o small.data -F hot -- "$MB/call_cost" -t 2 --seconds 3 >/dev/null 2>&1
	read -r _ small_kb < <(report_cost small.data)
	row "  against a recording a tenth as long" "$(compute "$kb / $small_kb")" "" "<=" 1.25
}

bench_data() {
	head_line "Records"
	bench_saturate
	bench_reading
}
