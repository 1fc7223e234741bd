#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Threads that switch so often that events which children inherit break the budget: processes are
# held instead, no call of theirs is lost by that, and children are traced from a moment after
# their birth, which is said. With a budget that allows it children inherit.
. "$(dirname "$0")/lib.sh"
needs_probes

held='processes are held one by one'
said='have no calls of their first moment'
# Two seconds of child, as on a busy machine the moment is a long one.
record tight -v -F handed_over -F child_work -- "$MB/hand_over" --child-calls 2003
is "$status" 0 "a budget: status" || diag tight.err
like tight.err "$held" "a budget: processes are held" || diag tight.err
report tight
is "$(block tight handed_over .calls)" "$(truth tight | awk '$1 == "handed_over" { print $3 }')" \
	"a budget: no call of the threads is lost by it"
nothing_lost tight
wanted=$(truth tight | awk '$1 == "child_work" { print $3 }')
got=$(block tight child_work .calls)
[ "$got" -gt 0 ] && [ "$got" -le "$wanted" ]
ok $? "a budget: the child is traced" || diag "$got of $wanted"
[ "$(jq "[.notices[] | select(test(\"$said\"))] | length" tight.json)" = 1 ]
ok $? "a budget: what of the child is missing is said" || diag "$(jq -c .notices tight.json)"

# On a machine so loud that switches cost as much as the program's own work at each try that is so, too.
for _ in 1 2 3 4 5; do
	record loose -v --overhead 100 -F handed_over -F child_work -- "$MB/hand_over"
	grep -q "$held" loose.err || break
done
if grep -q "$held" loose.err; then
	skip "a large budget" "context switches cost more than the program here"
else
	is "$status" 0 "a large budget: processes are not held" || diag loose.err
	report loose
	matches_truth loose calls
	is "$(jq "[.notices[] | select(test(\"$said\"))] | length" loose.json)" 0 "a large budget: nothing is missing"
fi

# Without -F no event is inherited at all.
# For as long as a busy machine takes to choose.
record chosen -v -- "$MB/hand_over" -n 0 -d 5000000
like chosen.err "$held" "chosen by ispot: processes are held"

# Who forks often has children that inherit, however often threads switch.
record forks -v -F handed_over -F child_work -- "$MB/hand_over" -n 20 -d 5000 --child-calls 5
unlike forks.err "$held" "children born often: processes are not held"
report forks
matches_truth forks calls

# Threads that are born so often cost more with such events than all that they do.
record born -v -F libc.so.6:getppid -- python3 -c '
import threading
for i in range(4000):
    t = threading.Thread(target=int); t.start(); t.join()'
is "$status" 0 "threads born often: status" || diag born.err
like born.err "$held" "threads born often: processes are held" || diag "$(grep birth born.err)"

# A process that loses the thread by which it is held is held by another.
record widow --no-inherit -F handed_over -- "$MB/hand_over" -n 0 -d 1500000 --leave 100000
report widow
wanted=$(truth widow | awk '$1 == "handed_over" { print $3 }')
got=$(block widow handed_over .calls)
[ "$got" -le "$wanted" ]
ok $? "the first thread ends: no more calls than there were" || diag "$got of $wanted"
# It ends after a fifteenth of the time: without another that holds the process there are no calls after that.
"$ISPOT" export --format csv -i widow.data -o - 2>/dev/null |
	awk -F, -v end="$(trace widow .duration_ns)" 'NR > 1 && $6 > last { last = $6 } END { print last, end; exit !(last > end / 2) }' >widow.last
ok $? "the first thread ends: the others' calls are there to the end" ||
	diag "$(cat widow.last), $got of $wanted calls"

# Children that an attached process has already are recorded if they are named; if not, that is said.
bash -c 'sleep 300 & sleep 300 & wait; true' &
parent=$!
children+=("$parent")
both() { [ "$(pgrep -c -P "$parent" -x sleep)" = 2 ]; }
eventually both
born=$(pgrep -d, -P "$parent")
for pid in ${born//,/ }; do children+=("$pid"); done
record before -F libc:wait4 -p "$parent" -d 0.2
is "$status" 0 "children from before: status" || diag before.err
report before
is "$(jq -r '.notices[] | select(test("had begun before"))' before.json)" \
	"2 child processes had begun before ispot did, and are not recorded; to record them, too: -p $parent,\$(pgrep -d, -P $parent)" \
	"children from before: how many, and how to record them"
record named -F libc:wait4 -p "$parent,$born" -d 0.2
unlike named.err 'had begun before' "children from before: not said of those that are named"
record alone -F libc:wait4 --no-inherit -p "$parent" -d 0.2
unlike alone.err 'had begun before' "children from before: not said where none are to be followed"
# shellcheck disable=SC2086 # one word each
kill $parent ${born//,/ }

# A program that one starts is traced once it was seen: what may be missing is said, and how much; of
# those that follow it once it is seen nothing is. What is known before has no such notice.
late='mapped while it was recorded, are traced from at most .* after that'
cat >starts.py <<-'EOP'
	import subprocess, sys, time
	subprocess.run([sys.argv[1], "-n", "11"], stdout=subprocess.DEVNULL)
	time.sleep(1)
	for i in range(20):
	    subprocess.run([sys.argv[1], "-n", "11"], stdout=subprocess.DEVNULL)
EOP
record started -F exact:outer -- python3 starts.py "$MB/exact"
is "$status" 0 "started by another program: status" || diag started.err
report started
calls=$(block started outer .calls)
[ "${calls:-0}" -ge 110 ] && [ "$calls" -le 231 ]
ok $? "started by another program: most calls, of those that follow the first" || diag "$calls"
like <(jq -r '.notices[]' started.json) "$late" "started by another program: said"
record itself -F exact:outer -- sh -c "'$MB/exact' -n 11; true"
report itself
is "$(block itself outer .calls)" 11 "started by a shell's words: all calls"
unlike <(jq -r '.notices[]' itself.json) "$late" "started by a shell's words: nothing to say"

done_testing
