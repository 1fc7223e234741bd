#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What ispot exports as perf.data, read by perf. (The text formats are tests/golden/export.)
. "$(dirname "$0")/lib.sh"

work=$planted/export
mkdir "$work"
"$ISPOT" dump --from-text tests/golden/export.trace -o "$work/t.data"
"$ISPOT" export -i "$work/t.data" --format perf -o "$work/perf.data" 2>/dev/null

field() { # field NAME WANT: the samples' field as perf script prints it, sorted and counted
	perf script -i "$work/perf.data" -F "$1" 2>/dev/null | awk 'NF { print $1 }' | sort | uniq -c |
		awk '{ printf "%s*%s ", $2, $1 }' >"$work/got"
	echo "$2" | diff - <(sed 's/ $//' "$work/got" && echo) | sed 's/^/# /' >&2
	[ "$(sed 's/ $//' "$work/got")" = "$2" ]
}

periods() { # the periods, in the order of the samples
	[ "$(perf script -i "$work/perf.data" -F period 2>/dev/null | xargs)" = "$1" ]
}

if ! command -v perf >/dev/null || ! perf --version >/dev/null 2>&1; then
	skip "perf reads what ispot exports" "no perf that runs on this kernel"
else
	ok "perf sees a sample per call, by thread" field tid "10*6 11*3"
	ok "with the call's own time as its period" periods "1000 2000 2000 2000 500 1000 1000 1000 197500"
	ok "perf report reads it" loud "Event count (approx.): 208000" \
		perf report -i "$work/perf.data" --stdio
	ok "and sorts it by symbols" loud "Shared Object" perf report -i "$work/perf.data" --stdio
	ok "perf knows the event by its name" loud "Samples: 9  of event 'ispot:call'" \
		perf report -i "$work/perf.data" --stdio
	ok "and its fields" loud "ispot:call: inner duration_ns=2000 own_ns=2000" \
		perf script -i "$work/perf.data" -F event,trace
	ok "perf report sorts by a field of the event" loud "3.12%     inner" \
		perf report -i "$work/perf.data" --stdio --no-children -s function -g none
	"$ISPOT" dump --from-text tests/golden/keys.trace -o "$work/keys.data"
	"$ISPOT" export -i "$work/keys.data" --format perf -o "$work/keys.perf" 2>/dev/null
	ok "and the values of arguments" loud "write duration_ns=52000 own_ns=52000 fd=3 count=100000 ret=100000" \
		perf script -i "$work/keys.perf" -F event,trace
fi

# hotspot's perfparser: messages of a size, then a type (13: a sample, 14: one of a tracepoint) and Qt's big-endian stream.
read_perfparser() {
	timeout 60 "$perfparser" --input "$1" --output "$work/stream" 2>/dev/null
	python3 - "$work/stream" <<-'EOP'
	import struct, sys
	data = open(sys.argv[1], "rb").read()
	at, samples, time, threads = 16, 0, 0, set()
	while data.startswith(b"QPERFSTREAM\0") and at < len(data):
	    size, = struct.unpack_from("<I", data, at)
	    message = data[at + 4:at + 4 + size]
	    at += 4 + size
	    if message[0] not in (13, 14):
	        continue
	    pid, tid, when, cpu, frames = struct.unpack_from(">IIQII", message, 1)
	    values, = struct.unpack_from(">I", message, 26 + 4 * frames)
	    samples += 1
	    threads.add(tid)
	    time += sum(struct.unpack_from(">Q", message, 34 + 4 * frames + 12 * i)[0] for i in range(values))
	print(samples, time, len(threads))
	EOP
}

# Of the package hotspot, wherever the distribution puts it.
find_perfparser() {
	perfparser=${PERFPARSER-$(find /usr/lib /usr/libexec -name hotspot-perfparser 2>/dev/null | head -1)}
	[ -n "$perfparser" ]
}

counted() { # counted TRACE: calls, their own time and threads, of the CSV
	"$ISPOT" dump --from-text "tests/golden/$1.trace" -o "$work/$1.data" &&
		"$ISPOT" export -i "$work/$1.data" --format csv -o - 2>/dev/null | python3 -c '
import csv, sys
rows = list(csv.DictReader(sys.stdin))
print(len(rows), sum(int(r["own_ns"]) for r in rows), len({r["tid"] for r in rows}))'
}

if find_perfparser; then
	for trace in export svc burst; do
		wanted=$(counted $trace)
		"$ISPOT" export -i "$work/$trace.data" --format perf -o "$work/$trace.perf" 2>/dev/null
		ok "hotspot's perfparser has the calls of $trace, their time and threads: $wanted" \
			[ "$(read_perfparser "$work/$trace.perf")" = "$wanted" ]
	done
else
	skip "hotspot's perfparser has every call" "no hotspot-perfparser; install Debian's hotspot, or name one with PERFPARSER"
fi
