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
fi
