#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Calls are counted exactly: threads, nesting, recursion, tail calls, forks, sh -c.
. "$(dirname "$0")/lib.sh"
needs_probes
needs_helper hidden_fork

exact_functions=(-F outer -F middle -F inner -F factorial -F 'tail_*' -F only_thread_zero)

for threads in 1 3 8; do
	record "exact$threads" "${exact_functions[@]}" -F never_called -- "$MB/exact" -t "$threads"
	is "$status" 0 "exact$threads: status"
	report "exact$threads"
	ok $? "exact$threads: report" || diag "exact$threads.report-err"
	matches_truth "exact$threads"
	nothing_lost "exact$threads"
	is "$(jq -r '.trace.untimed_calls' "exact$threads.json")" 0 "exact$threads: every call has its end"
	# 2 x (outer 1 + middle 1 + inner 3 + factorial 11 + tails 2) x 10007, and only_thread_zero's.
	zero=$(truth "exact$threads" | awk '$1 == "only_thread_zero" { print $3 }')
	is "$(trace "exact$threads" .records)" $((2 * (18 * 10007 + zero))) "exact$threads: records"
	calls=$(block "exact$threads" never_called .calls)
	[ "$calls" = null ] || [ "$calls" = 0 ]
	ok $? "exact$threads: a function never called has no calls" || diag "got: $calls"
	"$ISPOT" report -i "exact$threads.data" >"exact$threads.txt"
	like <(tr '\n' ' ' <"exact$threads.txt") 'Not called: never_called\b' "exact$threads: and is named"
done

record glob -F 'tail_*' -- "$MB/exact"
report glob
is "$(jq -r '[.blocks[] | select(.kind == "function") | .name] | sort | join(" ")' glob.json)" \
	"tail_caller tail_target" "a glob chooses what it matches"

record regex -F '/^(inner|outer)$/' -F '!outer' -- "$MB/exact"
report regex
is "$(jq -r '[.blocks[] | select(.kind == "function") | .name] | join(" ")' regex.json)" \
	inner "a regex chooses, ! takes out"

record children -F child_work -- "$MB/children" -n 5
report children
is "$status" 0 "children: status"
matches_truth children
nothing_lost children

record no_inherit --no-inherit -F child_work -- "$MB/children" -n 5
report no_inherit
is "$(block no_inherit child_work .calls)" $((5 * 101)) "--no-inherit: only the process itself"

record shell -F child_work -- sh -c "'$MB/children' -n 2; '$MB/children' -n 1"
report shell
is "$(block shell child_work .calls)" \
	"$(truth shell | awk '$2 == "calls" { n += $3 } END { print n }')" "sh -c: both programs"

record recursion -F descend -- "$MB/recursion"
report recursion
matches_truth recursion calls
record_truth shallow -F descend -- "$MB/recursion" --depth 40
matches_truth shallow
is "$(block shallow descend .timed_calls)" "$(block shallow descend .calls)" \
	"recursion within the kernel's depth: every call is timed"

# One call in seven, in the kernel; the others are counted. A multiple of seven: which of each seven is drawn at random.
record sampled -c 7 -F inner -- "$MB/exact" -t 1 -n 70007
report sampled
is "$status" 0 "-c 7: status"
is "$(block sampled inner .calls)" "$((3 * 70007 / 7))" "-c 7: one call in seven is recorded"
is "$(block sampled inner .timed_calls)" "$((3 * 70007 / 7))" "-c 7: each of them with its end"
is "$(block sampled inner .estimated_calls)" "$((3 * 70007))" "-c 7: the estimate is exact: all were counted"
jq -r '.notices[]' sampled.json >sampled.notices
like sampled.notices "one call in 7 was recorded, 30k of 210k" "-c 7: the report says of how many"

# No call of it is inside another, at whatever depth of the stack it comes.
is "$("$ISPOT" dump --events -i sampled.data | awk '$4 == "call-count" && $5 == "inner" {
	split($6, calls, "="); split($7, outer, "="); all += calls[2]; outermost += outer[2]
} END { print all, outermost }')" "$((18 * 10001)) $((18 * 10001))" "-c 7: calls that were left out are outermost ones"

# Where the kernel has uprobe sessions, calls that are left out take one trap: of programs that do not
# fork, because a session is of one process.
sessions=false
[ "$(uname -m)" = x86_64 ] && [ "$(printf '%s\n' 6.13 "$(uname -r)" | sort -V | head -1)" = 6.13 ] && sessions=true
is "$(jq .trace.uprobe_sessions sampled.json)" $sessions "-c 7: sessions where the kernel has them"
record every -F inner -- "$MB/exact" -t 1 -n 7
report every
is "$(jq .trace.uprobe_sessions every.json)" false "without -c no session"
record shell -c 7 -F inner -- sh -c "'$MB/exact' -t 1 -n 70007; true"
report shell
is "$(jq .trace.uprobe_sessions shell.json)" false "of a program that forks no session"
is "$(block shell inner .estimated_calls)" "$((3 * 70007))" "its children's calls are recorded"
record hidden -c 7 -F counted -- "$HELPERS/hidden_fork"
report hidden
if [ $sessions = true ]; then
	is "$(block hidden counted .estimated_calls)" 70 "of a program that forks unseen the parent's calls"
	jq -r '.notices[]' hidden.json >hidden.notices
	like hidden.notices "of child processes: their calls are not recorded" "that is said"
else
	is "$(block hidden counted .estimated_calls)" 140 "a program that forks unseen has all its calls"
fi
record wrapped -c 7 -F inner -- timeout 300 "$MB/exact" -t 1 -n 70007
report wrapped
within "$(block wrapped inner .estimated_calls)" "$((3 * 70007))+-2100"
ok $? "through a wrapper that forks: the program's calls" || diag "got: $(block wrapped inner .estimated_calls)"
is "$(jq '[.notices[] | select(test("child processes"))] | length' wrapped.json)" 0 "and no word that they are not recorded"
record alone -c 7 --no-inherit -F counted -- "$HELPERS/hidden_fork"
report alone
is "$(block alone counted .estimated_calls)" 70 "--no-inherit: the parent's calls"

# f g f g …: each at half, whatever the phase; recursion keeps its pairs.
record half -c 2 -F outer -F middle -F factorial -- "$MB/exact" -t 1 -n 10007
report half
for f in outer middle; do
	within "$(block half $f .calls)" 5003.5+-0.5
	ok $? "-c 2: half of $f" || diag "got: $(block half $f .calls)"
	is "$(block half $f .estimated_calls)" 10007 "-c 2: estimate of $f"
done
is "$(block half factorial .timed_calls)" "$(block half factorial .calls)" "-c 2: recursion keeps its pairs"
is "$(block half factorial .estimated_calls)" $((11 * 10007)) "-c 2: recursion is counted"
[ "$(jq '.blocks[] | select(.name == "outer") | .sci_low <= .sci and .sci <= .sci_high' half.json)" = true ]
ok $? "-c 2: the score is inside of its interval"

# holds_truth NAME: the interval of its score holds what the program knows of it
holds_truth() {
	local known
	known=$(truth "$1" | awk '$2 == "sci" { sub(/\+-.*/, "", $3); print $3 }')
	[ "$(block "$1" descend "| .sci != null and .sci_low - 0.1 <= $known and $known <= .sci_high + 0.1 and .sci_high <= 1")" = true ]
}

# descends NAME -c N: one call in N of a recursion 40 calls deep, whose outermost call sleeps one time in two;
# again where the host's noise is in the program's stamps and not in the probes'
descends() {
	for _ in 1 2 3; do
		record "$1" "${@:2}" -F descend -- "$MB/recursion" --depth 40 -n 2003
		report "$1"
		holds_truth "$1" && break
	done
	holds_truth "$1"
	ok $? "${*:2}: the interval of the score holds the truth" ||
		diag "$1.out" "$(block "$1" descend "| [.sci_low, .sci, .sci_high] | tojson")"
}

# The outermost calls are known although they are not recorded.
descends inner -c 7
is "$(block inner descend .timed_calls)" "$(block inner descend .calls)" "-c 7: a recursion keeps its pairs"
within "$(block inner descend .estimated_calls)" 80120+-801
ok $? "-c 7: its calls are estimated" || diag "got: $(block inner descend .estimated_calls)"
# With a fixed distance the outermost call would be seen each time or never: the program has a period, too.
descends aliased -c 8

# Calls that are left by longjmp have no exit: those behind are recorded as often as the first ones.
if command -v gcc >/dev/null; then
	cat >leaps.c <<-'EOC'
		#include <setjmp.h>
		static jmp_buf back;
		__attribute__((noinline, noclone)) void leap(volatile long x)
		{
			if (x >= 0)
				longjmp(back, 1);
		}
		int main(void)
		{
			for (volatile long i = 0; i < 1000; i++)
				if (!setjmp(back))
					leap(i);
			return 0;
		}
	EOC
	gcc -O1 -g -o leaps leaps.c
	record leaps -c 2 -F leap -- ./leaps
	report leaps
	is "$(block leaps leap '| "\(.calls) \(.estimated_calls)"')" "500 1000" "-c 2: calls that a longjmp leaves" ||
		diag leaps.err
else
	skip "-c 2: calls that a longjmp leaves" "no gcc here"
fi

record none -c 1000000000 -F inner -- "$MB/exact" -t 1 -n 11
report none
is "$status" 0 "-c beyond all calls: status"
jq -r '.notices[]' none.json >none.notices
like none.notices "none of the 33 was: record with a smaller -c" "-c beyond all calls: said"
for option in "-c 0" "-N 0" "--period 0" "-c 1073741825"; do
	# shellcheck disable=SC2086 # words
	record zero $option -F inner -- "$MB/exact"
	is "$status" 2 "$option: status"
	is "$(grep -c "^ispot: record: -c: out of range$" zero.err)" 1 "$option: said" ||
		diag zero.err
done
for n in -1 1.5 x 99999999999999999999 ""; do
	record word -c "$n" -F inner -- "$MB/exact"
	is "$status $(grep -c '^ispot: ' word.err)" "2 1" "-c '$n': one line" || diag word.err
done

done_testing
