#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What the engine in process must do on every processor: exact counts over threads, forks, signals and full rings,
# exceptions, attaching and detaching, and a recorder that is killed. Brief, as emulated machines run it, too.
. "$(dirname "$0")/lib.sh"

case $(uname -m) in x86_64 | aarch64) ;; *) skip_all "no patches are made on $(uname -m)" ;; esac
needs_command jq awk
needs_helper patched successive thrower
patched=$HELPERS/patched
"$ISPOT" record -q --engine in-process -o probe.data -F leaf "$patched" 1 0 1 0 >probe.out 2>probe.err ||
	{ grep -q 'stamps by the TSC' probe.err && skip_all "no stable TSC here: $(cat probe.err)"; }

report() { "$ISPOT" report --json -i "$1.data" | jq -r "$2"; } # NAME FILTER
calls() { report "$1" "[.blocks[] | select(.name == \"$2\" and .kind == \"function\") | .calls] | add // 0"; }
made() { awk -v f="$2" '$1 == "calls" && $2 == f { n += $3 } END { print n + 0 }' "$1.out"; }

# exact NAME: recorded and lost is what the program made
exact() {
	is "$(report "$1" '.trace.records + .trace.lost_records')" "$(awk '/^calls/ { n += 2 * $3 } END { print n }' "$1.out")" \
		"$1: each entry and exit is recorded or counted as lost" || diag "$1.err"
}

# ---- counts ----

engine=(--engine in-process -F leaf -F deep -F in_handler)
record one "${engine[@]}" -- "$patched" 1 0 503 0
is "$status/$(calls one leaf)/$(calls one deep)" "0/$(made one leaf)/$(made one deep)" "one thread: each call of each function" || diag one.err
is "$(report one '"\(.trace.lost_records)/\(.trace.untimed_calls)"')" 0/0 "one thread: nothing is lost, each call has its end"
record many "${engine[@]}" -- "$patched" 3 8 101 200
is "$status" 0 "threads, forks and signals: status" || diag many.err
exact many
is "$(report many '.blocks[] | select(.name == "leaf" and .kind == "function") | .threads')" 27 "threads, forks and signals: each thread of each process"
record small "${engine[@]}" -m 4K -- "$patched" 2 2 401 0
exact small
record successive --engine in-process -F step -- "$HELPERS/successive" 150 7
is "$status/$(calls successive step)" 7/1050 "threads that follow one another: each call" || diag successive.err
is "$(report successive '.blocks[] | select(.name == "step" and .kind == "function") | .threads')" 150 \
	"and each has its own, whatever memory it takes over"
record thrown --engine in-process -F thrower -F middle -F outer "$HELPERS/thrower"
is "$status/$(cat thrown.out)" "7/$("$HELPERS/thrower")" "C++ exceptions pass through patched functions" || diag thrown.err
is "$(calls thrown thrower)/$(calls thrown outer)" 3001/3001 "and calls that they leave are counted" || diag thrown.err

record auto --engine auto -F leaf -F deep -- "$patched" 1 0 101 0
if [ "$(id -u)" = 0 ] && [ "$status" = 0 ]; then
	is "$(calls auto leaf)/$(report auto '.blocks[] | select(.name == "leaf" and .kind == "function") | .probe.engine')" \
		"$(made auto leaf)/in-process" "--engine auto: each call, in process" || diag auto.err
fi
record valued --engine in-process -F leaf@arg1,ret -- "$patched" 3 0 101 0
is "$(calls valued leaf)" "$(made valued leaf)" "arguments: each call" || diag valued.err
"$ISPOT" dump --events -i valued.data >valued.events
is "$(grep -c ' args mask=0x1 ' valued.events)/$(grep -c ' args mask=0x200 ' valued.events)" \
	"$(made valued leaf)/$(made valued leaf)" "each with its argument and what it returned"
record chosen --engine in-process -- "$patched" 1 0 101 0
is "$status/$(calls chosen deep)" "0/$(made chosen deep)" "without -F: functions of the program" || diag chosen.err
is "$("$ISPOT" dump --meta -i chosen.data | grep -c '__aarch64_\|have_lse\|weak_fn')" 0 "and none that compilers add"
# all_calls FUNCTION: those that were left out, too
all_calls() { report sampled "[.blocks[] | select(.name == \"$1\" and .kind == \"function\") | .estimated_calls] | add // 0"; }
record sampled "${engine[@]}" -c 7 -- "$patched" 3 8 101 200
is "$status" 0 "-c 7: status" || diag sampled.err
for function in leaf deep in_handler; do
	is "$(all_calls $function)" "$(made sampled $function)" "-c 7: each call of $function is recorded or counted" || diag sampled.err
done
within "$(calls sampled leaf)" "$(($(made sampled leaf) / 7))+-27"
ok $? "-c 7: one call in 7 of each thread is recorded"
is "$(report sampled '.trace.untimed_calls')" 0 "-c 7: each of them has its end"

# ---- attaching, detaching, and a recorder that is killed ----

# code PID: the first bytes of leaf() in memory
function_at=$("$ISPOT" check --json -F leaf "$patched" | jq '.functions[0].probe | .file_offset - .offset')
code() {
	local range offset
	while read -r range _ offset _ _ _; do
		if ((function_at >= 16#$offset && function_at < 16#$offset + 16#${range#*-} - 16#${range%-*})); then
			dd if="/proc/$1/mem" bs=1 count=32 skip=$((16#${range%-*} + function_at - 16#$offset)) 2>/dev/null | od -An -tx1 | tr -d ' \n'
		fi
	done < <(grep -F "$patched" "/proc/$1/maps")
}
"$patched" wait 3 >running.out &
running=$!
children+=("$running")
started "$running" patched
before=$(code "$running")
"$ISPOT" record --engine in-process -o attached.data -F leaf -p "$running" -d 60 >attached.out 2>&1 &
recorder=$!
is_patched() { [ "$(code "$running")" != "$before" ]; }
eventually is_patched
ok $? "jumps stand in a running program" || diag attached.out
kill -INT "$recorder"
wait "$recorder"
is "$?/$(code "$running")" "0/$before" "and are taken out again" || diag attached.out
is "${#before}/$(report attached '.trace.calls > 10 and .trace.threads >= 3')" 64/true "calls of its threads are recorded"
outlives_recorders "$running" 0.05 0.1 0.2 0.4 0.8
ok $? "a recorder that is killed at any moment leaves the program running"
"$ISPOT" record --engine in-process -o after.data -F leaf -p "$running" -d 0.3 >after.out 2>&1
is "$?/$(code "$running")" "0/$before" "the next recording takes out what they have left" || diag after.out
kill "$running"
wait "$running"
is "$?/$(grep -c '^calls leaf' running.out)" 0/1 "the program ends as it would have"

done_testing
