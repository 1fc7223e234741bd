#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What ispot exports, read by others than ispot: each format has the calls and the time that the
# recording has. (perf is in export.t, what is printed exactly in tests/golden/export.)
. "$(dirname "$0")/lib.sh"

work=$planted/roundtrip
mkdir "$work"
for trace in export svc burst; do
	"$ISPOT" dump --from-text "tests/golden/$trace.trace" -o "$work/$trace.data"
	for format in chrome csv folded pprof speedscope; do
		"$ISPOT" export -i "$work/$trace.data" --format $format -o "$work/$trace.$format" 2>/dev/null
	done
	"$ISPOT" export -i "$work/$trace.data" --format csv -o "$work/$trace.csv.zst" 2>/dev/null
done

# The calls and the sum of own times, from the CSV that zstd and Python read: what others must have.
read_csv() { # read_csv TRACE
	zstd -qdc "$work/$1.csv.zst" | cmp - "$work/$1.csv" &&
		python3 -c '
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
print(len(rows), sum(int(r["own_ns"]) for r in rows))' "$work/$1.csv"
}

read_folded() { # own time
	awk '{ n += $NF } END { printf "%d\n", n }' "$work/$1.folded"
}

# Complete events of a thread must nest: each ends within the one it began in.
read_chrome() {
	python3 - "$work/$1.chrome" <<-'EOP'
	import collections, json, sys
	events = json.load(open(sys.argv[1]))["traceEvents"]
	threads = collections.defaultdict(list)
	for e in events:
	    if e["ph"] == "X":
	        threads[e["pid"], e["tid"]].append((round(e["ts"] * 1000), -round(e["dur"] * 1000)))
	for calls in threads.values():
	    open_until = []
	    for ts, minus in sorted(calls):
	        while open_until and open_until[-1] <= ts:
	            open_until.pop()
	        if open_until and ts - minus > open_until[-1]:
	            print("not nested at", ts)
	        open_until.append(ts - minus)
	named = {(e["pid"], e["tid"]) for e in events if e["ph"] == "M"}
	if not named >= set(threads):
	    print("threads without a name")
	if any(e["args"]["threads"] < 0 for e in events if e["ph"] == "C"):
	    print("a counter below zero")
	print(sum(map(len, threads.values())))
	EOP
}

# Every open has its close, in order, and the time inside is the own time.
read_speedscope() {
	python3 - "$work/$1.speedscope" <<-'EOP'
	import json, sys
	calls = 0
	for profile in json.load(open(sys.argv[1]))["profiles"]:
	    stack, last = [], profile["startValue"]
	    for e in profile["events"]:
	        if e["at"] < last:
	            print("back in time at", e["at"])
	        last = e["at"]
	        if e["type"] == "O":
	            stack.append(e["frame"])
	            calls += 1
	        elif stack.pop() != e["frame"]:
	            print("closes another at", last)
	    if stack or last > profile["endValue"]:
	        print("left open at the end")
	print(calls)
	EOP
}

# profile.proto as far as it goes here, in protoc's own words.
read_pprof() {
	cat >"$work/profile.proto" <<-'EOP'
	syntax = "proto3";
	message ValueType { int64 type = 1; int64 unit = 2; }
	message Sample { repeated uint64 location_id = 1; repeated int64 value = 2; }
	message Line { uint64 function_id = 1; int64 line = 2; }
	message Location { uint64 id = 1; repeated Line line = 4; }
	message Function { uint64 id = 1; int64 name = 2; int64 system_name = 3; int64 filename = 4; int64 start_line = 5; }
	message Profile { repeated ValueType sample_type = 1; repeated Sample sample = 2; repeated Location location = 4;
	  repeated Function function = 5; repeated string string_table = 6; int64 time_nanos = 9; int64 duration_nanos = 10; }
	EOP
	protoc --decode=Profile -I"$work" profile.proto <"$work/$1.pprof" |
		awk '/^sample \{/ { i = 0; in_sample = 1 } /^}/ { in_sample = 0 }
			in_sample && $1 == "value:" { sum[i++] += $2 }
			END { printf "%d %d\n", sum[0], sum[1] }'
}

same() { # same WHAT GOT WANTED
	[ "$2" = "$3" ] && return
	echo "$1: $2, the recording has $3"
}

for trace in export svc burst; do
	truth=$(read_csv $trace)
	ok "$trace: csv has calls" [ "${truth%% *}" -gt 0 ]
	holds "$trace: folded has their own time" same ns "$(read_folded $trace)" "${truth##* }"
	holds "$trace: chrome has every call, nested" same calls "$(read_chrome $trace)" "${truth%% *}"
	holds "$trace: speedscope has every call, closed" same calls "$(read_speedscope $trace)" "${truth%% *}"
	if command -v protoc >/dev/null; then
		holds "$trace: pprof has both" same "calls and ns" "$(read_pprof $trace)" "$truth"
	else
		skip "$trace: pprof has both" "no protoc"
	fi
done

# The differential: on each path the time of as many fastest calls, and the time there was.
read_diff() {
	"$ISPOT" export -i "$work/$1.data" --format folded-diff -o - 2>/dev/null | python3 -c '
import sys
whole = {l.rsplit(" ", 1)[0]: int(l.rsplit(" ", 1)[1]) for l in open(sys.argv[1])}
fastest = now = 0
for line in sys.stdin:
    path, a, b = line.rsplit(" ", 2)
    if whole.pop(path, None) != int(b):
        print("other time of", path)
    if int(a) > int(b):
        print("faster than fastest:", path)
    fastest, now = fastest + int(a), now + int(b)
if whole:
    print("no path", *whole)
if not 0 < fastest <= now:
    print("sums", fastest, now)' "$work/$1.folded"
}
for trace in export svc burst; do
	holds "$trace: folded-diff has the paths and times of folded, and what they could be" read_diff $trace
done

# chrome: the first calls of a limit, and those that begin in a window.
few_chrome() { # few_chrome TRACE OPTIONS...: calls, and the first and last begin in us
	"$ISPOT" export -i "$work/$1.data" --format chrome "${@:2}" -o - 2>"$work/said" | python3 -c '
import json, sys
ts = sorted(e["ts"] for e in json.load(sys.stdin)["traceEvents"] if e["ph"] == "X")
print(len(ts), ts[0] >= float(sys.argv[1]), ts[-1] <= float(sys.argv[2]))' "${from:-0}" "${to:-1e15}"
}
holds "chrome: a limit is kept" same calls "$(few_chrome svc --limit 5)" "5 True True"
ok "and what is beyond it is said" grep -q 'more calls are beyond the limit' "$work/said"
window() { # begins in the window, as CSV has them
	from=1000 to=3000
	[ "$(few_chrome svc --time 1ms-3ms)" = "$("$ISPOT" export -i "$work/svc.data" --format csv \
		--time 1ms-3ms -o - 2>/dev/null | tail -n +2 | wc -l) True True" ]
}
ok "chrome: a window has its calls and no others" window

# speedscope publishes a schema in its package; SPEEDSCOPE_SCHEMA names a file instead.
schema=${SPEEDSCOPE_SCHEMA-}
if [ -z "$schema" ] && command -v npm >/dev/null &&
	(cd "$work" && timeout 60 npm pack --silent speedscope && tar xf speedscope-*.tgz) >/dev/null 2>&1; then
	schema=$(find "$work/package" -name file-format-schema.json)
fi
valid() {
	python3 - "$schema" "$work/svc.speedscope" <<-'EOP'
	import json, sys, jsonschema
	schema, profile = (json.load(open(f)) for f in sys.argv[1:])
	for e in jsonschema.Draft7Validator(schema).iter_errors(profile):
	    print(list(e.path)[:4], e.message[:200])
	EOP
}
if [ -z "$schema" ]; then
	skip "speedscope's own schema accepts it" "npm cannot fetch it, SPEEDSCOPE_SCHEMA names none"
elif ! python3 -c 'import jsonschema' 2>/dev/null; then
	skip "speedscope's own schema accepts it" "no python3-jsonschema"
else
	holds "speedscope's own schema accepts it" valid
fi

# hotspot's parser refuses attributes longer than it knows: 128 bytes. The header of perf.data has
# the size of an entry at 16: the attribute, and its ids.
"$ISPOT" export -i "$work/svc.data" --format perf -o "$work/svc.perf" 2>/dev/null
ok "perf.data: attributes of at most 128 bytes" \
	[ "$(od -An -tu8 -j16 -N8 "$work/svc.perf" | tr -d ' ')" -le $((128 + 16)) ]
ok "perf.data: its magic is perf's" [ "$(head -c 8 "$work/svc.perf")" = PERFILE2 ]

# A dump that has no record says so, and what there is instead; one that has is silent. The recording goes on
# for a while behind its last record.
{
	cat tests/golden/bare.trace
	echo '{"kind":"end","end_ns":9000000000,"made_records":0,"lost_records":0}'
} >"$work/bare.trace"
"$ISPOT" dump --from-text "$work/bare.trace" -o "$work/bare.data"
dump_says() { { "$ISPOT" dump --events -i "$work/bare.data" "$@" >/dev/null; } 2>&1; }
ok "dump: no record of a thread" loud "no record of thread 4711" dump_says --tid 4711
ok "dump: nor in a time" loud "no record of thread 7 in 5s-6s" dump_says --tid 7 --time 5s-6s
ok "dump: no record in a time" loud "no record in 5s-6s, and the recording lasts 9s" dump_says --time 5s-6s
ok "dump: records, and nothing beside" silent dump_says --tid 7
