#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The example of ispot-sci(7), from start to fix: its commands run as they stand there, and what they
# print is of the same kind. (How much, another machine may have otherwise.)
. "$(dirname "$0")/lib.sh"
needs_probes
page=$ROOT/man/ispot-sci.7
mkdir build bin
ln -s "$MB" build/microbench
ln -s "$ISPOT" bin/ispot
PATH=$DIR/bin:$PATH

sed -n '/^\.Sh EXAMPLES/,/^\.Sh SEE/s/^\$ //p' "$page" | sed 's/^sudo //' >commands
is "$(wc -l <commands)" 5 "there are five commands"
n=0
while read -r command; do
	n=$((n + 1))
	bash -c "$command" </dev/null >"$n.out" 2>"$n.err"
	is $? 0 "$command" || diag "$n.err"
done <commands

like 1.out 'expect block=locked_add calls=20011 .*cause=lock' "the program knows what is true"
like 2.out 'pthread_mutex_lock lock' "the report names the mutex"
like 2.out '^next +ispot report --slow ' "and the next command"
like 3.out 'queued for a lock: ' "the slow calls queued"
like 3.out '^durations, calls' "their durations have heaps"
ispot diff --json before.data -- after.data >diff.json
of() { jq ".blocks[] | select(.name == \"$1\") | $2" diff.json; }
lost_by() { # lost_by CAUSE FILE: of the time of its threads, what the mutex takes by it
	ispot report --json -i "$2" 2>/dev/null | jq --arg kind "$1" '[.blocks[]
		| select(.name == "pthread_mutex_lock" and .key == null)
		| (.sci // 0) * ([.causes[] | select(.kind == $kind).share] | add // 0)] | add'
}
taken=$(for f in before after; do "$ISPOT" report --json -i $f.data 2>/dev/null; done |
	jq -s '[.[].blocks[] | (.sci // 0) * ([.causes[] | select(.kind == "cpu-wait").share] | add // 0)] | max')
if awk "BEGIN { exit !($taken < 0.1) }"; then
	is "$(of pthread_mutex_lock '.after.sci < .before.sci')" true "the mutex scores less" || diag 5.out
	before=$(lost_by lock before.data) after=$(lost_by lock after.data)
	ok "$(awk "BEGIN { print !($after < $before / 2) }")" "less than half of the time is queued for it" || diag 5.out
else
	# whoever holds it waits for a CPU, too, and the others queue meanwhile
	skip "the mutex scores less" "other programs have the CPUs: it waits for those"
	skip "less than half of the time is queued for it" "other programs have the CPUs"
fi
# A machine that runs slower for a while makes the fastest call slower: then both are recorded again.
same_fastest() {
	within "$(of locked_add '.after.min_ns / .before.min_ns')" 1+-0.1
}
for _ in 1 2; do
	same_fastest && break
	diag "fastest: $(of locked_add '[.before.min_ns, .after.min_ns]')"
	while read -r command; do
		[[ $command == ispot\ record* ]] && bash -c "$command" </dev/null >again.out 2>again.err
	done <commands
	ispot diff --json before.data -- after.data >diff.json
done
same_fastest
ok $? "the fastest call takes what it took"
done_testing
