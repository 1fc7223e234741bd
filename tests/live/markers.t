#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Markers and USDT probes: exact, timed, harmless to the red zone, and mistakes are said.
. "$(dirname "$0")/lib.sh"
needs_probes

record marked -F 'marker:*' -F '!marker:cost' -- "$MB/markers"
is "$status" 0 "marked: status (the red zone is whole)"
report marked
ok $? "marked: report" || diag marked.report-err
matches_truth marked calls sci
nothing_lost marked
is "$(block marked wait_reply .kind)" marker "kind"
for b in wait_reply red_zone nested; do
	is "$(block marked $b .timed_calls)" "$(block marked $b .calls)" "marked: every $b has its end"
done
# 2003 scans of 50 steps on two threads, each counting for itself; the first of a thread is taken.
is "$(block marked scan_step .calls)" 1002 "a loop: one iteration in 100 of each thread"
is "$(block marked scan_step .estimated_calls)" 100200 "a loop: the others are estimated"

record beside -F wait_reply -- "$MB/markers" -n 50
like beside.err "no function 'wait_reply'" "a marker is no function"
record beside -F 'marker:wait_reply' -F take_reply -F send_request -- "$MB/markers" -n 500
report beside
is "$(block beside wait_reply .timed_calls)" 500 "a block across two traced functions"
is "$(block beside take_reply .timed_calls) $(block beside send_request .timed_calls)" "500 500" \
	"the functions that it crosses are timed too"

record wrong -F 'marker:*' -- "$MB/markers" --fault 1001
report wrong
value() { awk -v k="$1" '$1 == k { print $2 }' wrong.out; }
is "$(block wrong early .calls)" "$(value early_calls)" "mistakes: calls"
is "$(block wrong early .timed_calls)" $(($(value early_calls) - $(value early_unended))) \
	"mistakes: what has no end is not timed"
jq -r '.notices[]' wrong.json >wrong.notices
like wrong.notices "^$(value early_unended) begins of marker early have no end" "begins without an end are said"
like wrong.notices "^$(value early_unbegun) ends of marker early have no begin" "ends without a begin are said"
like wrong.notices "^1001 blocks of marker first ended inside|^1.0k blocks of marker first ended inside" \
	"overlapping blocks are said"
is "$(block wrong first .timed_calls) $(block wrong second .timed_calls)" "1001 1001" "and timed"

record sampled -c 3 -F marker:red_zone -F marker:nested -- "$MB/markers" -t 1 -n 3000
report sampled
is "$(block sampled red_zone .calls)" 1000 "-c 3: one in three"
is "$(block sampled red_zone .timed_calls)" 1000 "-c 3: each with its end"
is "$(block sampled nested .estimated_calls)" 9000 "-c 3: a block in itself is counted"
is "$(block sampled nested .timed_calls)" "$(block sampled nested .calls)" "-c 3: and ends as itself"

record none -F marker:cost -- "$MB/markers" -n 20
like none.err "no calls were seen" "a marker that nobody passes"

record thrown -F 'usdt:libstdcxx:throw..catch' -- "$MB/exceptions" -t 1 -n 1001
if [ "$status" = 0 ]; then
	report thrown
	caught=$(awk '$1 == "caught" { print $2 }' thrown.out)
	is "$(block thrown libstdcxx:throw..catch .timed_calls)" "$caught" "libstdc++: throw to catch"
else
	skip "libstdc++: throw to catch" "no USDT probes in it"
fi

record reused -F @thrown.data -- "$MB/exceptions" -t 1 -n 100
[ ! -s thrown.data ] || [ "$status" = 0 ]
ok $? "-F @FILE takes the blocks of a recording" || diag reused.err

if readelf -n /usr/bin/python3 2>/dev/null | grep -q gc__start; then
	record python -F 'usdt:python:gc__*..gc__*' -F 'usdt:python:gc__start..gc__done' -- \
		/usr/bin/python3 -c 'import gc; [gc.collect() for i in range(50)]'
	report python
	n=$(block python python:gc__start..gc__done .timed_calls)
	[ "$n" != null ] && [ "$n" -ge 50 ]
	ok $? "python: collections of garbage" || diag "got: $n" python.err
else
	skip "python: collections of garbage" "no USDT probes in it"
fi

record typo -F marker:wait_repl -- "$MB/markers"
is "$status" 125 "a marker that there is not: status"
like typo.err "no such marker; there is wait_reply" "a marker that there is not: near names"
record unmarked -F 'marker:*' -- "$MB/exact"
like unmarked.err "has no markers; include ispot.h" "a program without markers"

# The probes are those of every tool: the note, its semaphore, its arguments.
if command -v bpftrace >/dev/null; then
	timeout 60 bpftrace -q -c "$MB/markers -t 1 -n 100" -e "
		usdt:$MB/markers:ispot:wait_reply__begin { @begins = count(); @sum = sum(arg1); }" \
		>bpftrace.out 2>bpftrace.err
	if grep -q '@begins' bpftrace.out; then
		like bpftrace.out '^@begins: 100$' "bpftrace sees the marker"
		like bpftrace.out '^@sum: 4950$' "and its arguments"
	else
		skip "bpftrace sees the marker" "$(head -1 bpftrace.err)"
	fi
else
	skip "bpftrace sees the marker" "no bpftrace here"
fi

done_testing
