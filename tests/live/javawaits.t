#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Where ispot may have the scheduler's records they run beside --java: what a Java method waits for is known as it
# is of native code.
. "$(dirname "$0")/lib.sh"

for tool in java javac; do command -v $tool >/dev/null || skip_all "no JDK is installed: no $tool"; done
"$ISPOT" record --java -o probe.data true 2>probe.err
grep -q 'built without its Java agent' probe.err && skip_all "ispot was built without a JDK's headers"
# notice NAME: of the limits
notice() { "$ISPOT" report --json -i "$1.data" | jq -r '.notices[] | select(test("context switches are not recorded|agent.s own cost"))'; }
notice probe >limits
grep -q 'context switches are not recorded' limits && skip_all "$(grep -o 'context switches are not recorded ([^)]*)' limits)"
javac -d . "$ROOT"/microbench/java/{Waits,Monitors,Busy}.java 2>javac.err || skip_all "javac fails: $(head -1 javac.err)"

record program --java -- java Waits
is "$status" 0 "status" || diag program.err
"$ISPOT" report --json -i program.data >program.json
is "$(jq .trace.lost_records program.json)" 0 "nothing was lost"
# of METHOD JQ
of() { jq -c --arg m "Waits.$1" ".blocks[] | select(.kind == \"function\" and (.name | startswith(\$m))) | $2" program.json; }
# share METHOD CAUSE: of what it loses
share() { of "$1" "[.causes[] | select(.kind == \"$2\") | .share] | add // 0"; }
# A busy machine adds waiting for a CPU, and nothing else.
# mostly METHOD CAUSE WHAT
mostly() {
	is "$(jq -n "$(share "$1" "$2") / (1.001 - $(share "$1" cpu-wait)) > 0.8")" true "$3" || diag "$(of "$1" .causes)"
}
mostly receive network "an answer from a socket: network"
mostly take condition-wait "another thread: condition variable"
mostly pause sleep "a time to pass: sleep"
like <(of take '[.causes[].evidence[]]') 'ended by thread [0-9]+ hands' "and which thread it was"
is "$(jq -n "$(share crunch cpu-wait) > 0.5")" true "more threads than CPUs: run queue" || diag "$(of crunch .causes)"
is "$(of crunch '.excess_split | .runnable_ns > .blocked_ns')" true "with its time" || diag "$(of crunch .)"
is "$(jq '[.threads[] | select(.comm | test("^crunch-"))] | length' program.json)" $((4 * $(getconf _NPROCESSORS_ONLN))) \
	"each thread is there once"
is "$(jq '[.trace | .idle_ns, .working_ns, .lost_ns] | all(. > 0)' program.json)" true "thread time is told apart"
unlike program.err 'not recorded' "nothing is said to be missing"

# A thread is in a call of one stream and leaves the CPU by another: both have the same clock.
"$ISPOT" dump --events -i program.data >program.dump
is "$(awk '$4 == "entry" || $4 == "exit" { calls[$2] } $4 ~ /^switch/ { switches[$2] }
	END { for (c in calls) both += c in switches; print both + 0, length(calls) }' program.dump)" "0 1" \
	"calls are in a stream of their own, behind the CPUs"

record monitors --java -- java Monitors
"$ISPOT" report --by lock --json -i monitors.data >locks.json
is "$(jq '[.blocks[] | select(.name | startswith("Monitors$Store@"))] | length == 1 and
	.[0].verdict == "interference" and .[0].causes[0].kind == "lock" and
	([.[0].causes[] | select(.kind == "lock" or .kind == "cpu-wait") | .share] | add > 0.95)' locks.json)" true \
	"a monitor whose holder sleeps is waited for, and that is no idle time" || diag "$(jq -c '[.blocks[] | {name, verdict, causes}]' locks.json)"

java Busy 1000000 1 >busy.out 2>busy.err &
busy=$!
children+=("$busy")
while ! grep -qs begins busy.out; do sleep 0.1; done
"$ISPOT" record --java -p $busy -d 1 -o attached.data 2>attached.err
is $? 0 "attached: status" || diag attached.err
"$ISPOT" dump --events -i attached.data >attached.dump
like attached.dump " $busy/$busy|[0-9]+/$busy switch-" "attached: the scheduler's records are there" || diag "$(head -5 attached.dump)"
kill -0 $busy
is $? 0 "attached: the program goes on"

if [ "$(id -u)" = 0 ] && unshare -pf true 2>/dev/null; then
	record inside --java -- unshare -pf --mount-proc java Monitors 11
	"$ISPOT" report --json -i inside.data >inside.json
	is "$(jq '[.blocks[] | select(.name == "monitorenter") | .causes[0].kind] | length > 0 and all(. == "lock")' inside.json)" true \
		"in a container: monitors"
	is "$(jq '[.threads[] | select(.comm | test("^worker-"))] | length' inside.json)" 3 "in a container: threads are those of the kernel's records" ||
		diag "$(jq -c '[.threads[] | {tid, comm}]' inside.json)" inside.err
else
	skip "in a container" "it takes root and unshare"
fi

if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	there=/tmp/ispot-live.$$
	mkdir -m 755 $there && cp ./*.class $there && install -m 755 "$ISPOT" $there/ispot && chown 65534 $there
	setpriv --reuid 65534 --regid 65534 --clear-groups "$there/ispot" record --java -o $there/own.data -- \
		java -cp $there Monitors 11 >own.out 2>own.err
	is $? 0 "without root: status" || diag own.err
	cp $there/own.data . && rm -rf $there
	like <(notice own) 'context switches are not recorded \(the kernel refuses BPF programs' "without root: what is missing, and why"
	is "$("$ISPOT" report --by lock --json -i own.data | jq '[.blocks[] | select(.name == "Monitors.class")] | length')" 1 \
		"without root: monitors are there"
else
	skip "without root" "it takes root and setpriv"
fi
done_testing
