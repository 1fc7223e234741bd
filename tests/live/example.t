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

sed -n '/^\.Sh EXAMPLES/,/^\.Sh [^E]/s/^\$ //p' "$page" | sed 's/^sudo //' >commands
is "$(wc -l <commands)" 5 "there are five commands"
n=0
while read -r command; do
	n=$((n + 1))
	bash -c "$command" </dev/null >"$n.out" 2>"$n.err"
	is $? 0 "$command" || diag "$n.err"
done <commands

taken=$(for f in before after; do "$ISPOT" report --json -i $f.data 2>/dev/null; done |
	jq -s '[.[].blocks[] | (.sci // 0) * ([.causes[] | select(.kind == "cpu-wait").share] | add // 0)] | max')
# Whoever holds the mutex waits for a CPU then, too, and the others queue meanwhile.
to_themselves() { awk "BEGIN { exit !($taken < 0.1) }"; }
of_others="other programs have the CPUs"

like 1.out 'expect block=locked_add calls=20011 .*cause=lock' "the program knows what is true"
if to_themselves; then
	like 2.out 'pthread_mutex_lock lock' "the report names the mutex"
else
	skip "the report names the mutex" "$of_others"
fi
like 2.out '^Next: +ispot report --slow ' "and the next command"
like 3.out 'queued for a lock: ' "the slow calls queued"
like 3.out '^LATENCY' "their durations have heaps"
ispot diff --json before.data -- after.data >diff.json
of() { jq ".blocks[] | select(.name == \"$1\") | $2" diff.json; }
lost_by() { # lost_by CAUSE FILE: of the time of its threads, what the mutex takes by it
	ispot report --json -i "$2" 2>/dev/null | jq --arg kind "$1" '[.blocks[]
		| select(.name == "pthread_mutex_lock" and .key == null)
		| (.sci // 0) * ([.causes[] | select(.kind == $kind).share] | add // 0)] | add'
}
if to_themselves; then
	is "$(of pthread_mutex_lock '.after.sci < .before.sci')" true "the mutex scores less" || diag 5.out
	before=$(lost_by lock before.data) after=$(lost_by lock after.data)
	ok "$(awk "BEGIN { print !($after < $before / 2) }")" "less than half of the time is queued for it" || diag 5.out
else
	skip "the mutex scores less" "$of_others"
	skip "less than half of the time is queued for it" "$of_others"
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
