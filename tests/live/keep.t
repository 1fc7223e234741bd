#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# --keep-slower: short calls leave no records, and still every call counts.
. "$(dirname "$0")/lib.sh"
needs_probes

exact_functions=(-F outer -F middle -F inner -F factorial -F 'tail_*' -F only_thread_zero)

record full "${exact_functions[@]}" -- "$MB/exact" -t 3
record kept --keep-slower 1ms "${exact_functions[@]}" -- "$MB/exact" -t 3
is "$status" 0 "status" || diag kept.err
report kept
matches_truth kept
nothing_lost kept
is "$(jq -r .trace.untimed_calls kept.json)" 0 "every call has its end"
[ "$(stat -c %s kept.data)" -lt $(($(stat -c %s full.data) / 4)) ]
ok $? "the file is much smaller" || diag "$(stat -c '%n %s' full.data kept.data)"
# Of calls of nothing the fastest takes as long in both; within a factor that machines do not have.
report full
for f in inner outer; do
	a=$(block full "$f" .min_ns) b=$(block kept "$f" .min_ns)
	awk -v a="$a" -v b="$b" 'BEGIN { exit !(b > 0 && b < 8 * a + 1000) }'
	ok $? "the fastest call of $f is known" || diag "full $a, kept $b"
done
is "$(jq '[.notices[] | select(test("shorter than"))] | length' kept.json)" 1 "the report says what is missing"

report kept --time 0-1h
is "$(jq "[.notices[] | select(test(\"count at the thread's end\"))] | length" kept.json)" 0 "the whole time is no window"
report kept --time 1us-
is "$(jq "[.notices[] | select(test(\"count at the thread's end\"))] | length" kept.json)" 1 "a window says that of short calls the time is not known"

# Calls that are long are all there, with their times: the slow path spins for longer than 200 us.
# And where they were called from.
record slow --keep-slower 200us --slow-stacks 200us -g fp -F fast_or_slow -F slow_path -- "$MB/variability" --variant fast_or_slow
"$ISPOT" outliers --rule robust --json -i slow.data >slow.json
rare=$(awk '$1 == "run" && $5 { n++ } END { print n }' slow.out)
is "$(jq '.blocks[] | select(.name == "fast_or_slow") | .executions' slow.json)" 300 "every execution counts"
is "$(jq ".blocks[] | select(.name == \"slow_path\") | .timed" slow.json)" "$rare" "each slow one is timed"
is "$(jq ".blocks[] | select(.name == \"fast_or_slow\") | .divergent >= $rare" slow.json)" true "each slow one diverges" ||
	diag "$(jq -c '.blocks[] | select(.name == "fast_or_slow") | [.divergent, .line, .p50_ns]' slow.json)"
is "$(jq -c '[.blocks[].divergent_executions[] | select(.duration_ns >= 200000) | .stack_of] | unique' slow.json)" '["execution"]' \
	"each has its own call stack"
is "$(jq -c '[.blocks[] | select(.name == "fast_or_slow") | .divergent_executions[] | select(.duration_ns >= 200000) | .stack
	| map(sub(" .*"; ""))[0:3]] | unique' slow.json)" '[["fast_or_slow","run","main"]]' "with who called it" || diag "$(jq -c '.blocks[].divergent_executions[0].stack' slow.json)"
record kept_only --keep-slower 200us -F fast_or_slow -- "$MB/variability" --variant fast_or_slow
"$ISPOT" outliers --of fast_or_slow --rule robust -i kept_only.data >kept_only.screen
like kept_only.screen 'record with --slow-stacks' "without them it says how to get them"
like kept_only.screen 'called from .* < …$' "and names the calling place"

# The short requests are only summed up: that they are short is no proof that the long ones do more.
record held --keep-slower 200us -F handle_request -- "$MB/contended"
report held
# Where other programs have the CPUs, most of why it runs slower may be unknown.
like <(block held handle_request .verdict) "^(interference|cannot-tell)$" "who waits for locks, disks and CPUs suffers from interference" ||
	diag "$(block held handle_request '.causes | tojson')"
is "$(block held handle_request '.causes | map(select(.kind == "workload" and .confidence == 1)) | length')" 0 \
	"and is not taken for one who has more to do" || diag "$(block held handle_request '.causes | tojson')"

record both --keep-slower 1ms -c 10 -F inner -- "$MB/exact"
is "$status" 2 "not together with -c"

done_testing
