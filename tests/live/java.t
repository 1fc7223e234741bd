#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Java programs: calls of synchronized methods and blocks are counted exactly, and whatever befalls the
# recording, nothing is lost silently and the program is not harmed. Takes no privilege.
. "$(dirname "$0")/lib.sh"

for tool in java javac; do command -v $tool >/dev/null || skip_all "no JDK is installed: no $tool"; done
"$ISPOT" record --java -o probe.data true 2>probe.err
grep -q 'built without its Java agent' probe.err && skip_all "ispot was built without a JDK's headers"
javac -d . "$ROOT"/microbench/java/*.java "$ROOT"/tests/live/VerifyAll.java 2>javac.err || skip_all "javac fails: $(head -1 javac.err)"

# lost NAME: in the recording
lost() { "$ISPOT" report --json -i "$1.data" | jq .trace.lost_records; }
# calls NAME PATTERN: of blocks whose names match
calls() { "$ISPOT" report --json -i "$1.data" | jq --arg p "$2" '[.blocks[] | select(.name | test($p)) | .calls] | add // 0'; }
# timed NAME: calls without an end
untimed() { "$ISPOT" report --json -i "$1.data" | jq .trace.untimed_calls; }

# ---- counts ----

exact_java=$ROOT/microbench/java/Exact.java
outer=$(awk '/synchronized \(lock\)/ { print NR; exit }' "$exact_java")
inner=$(awk '/synchronized \(this\)/ { n = NR } END { print n }' "$exact_java")
# shellcheck disable=SC2016 # names of nested classes
declare -A names=([add]='^Exact.add\(' [both]='^Exact.both\(long,double,String\[\],int\[\]\[\]\)$'
	[choose]='^Exact.choose' [fail]='^Exact.fail' [area]='^Exact\$Square.area' [twice]='^Exact\$Shape.twice.*block'
	[outer]="^Exact.blocks\(int\) block:$outer$" [inner]="^Exact.blocks\(int\) block:$inner$" [lambda]='^Exact.lambda.* block'
	[descend]='^Exact.descend' [made]='^Exact\$Made.<init>\(Exact,int\) block:')
# exact NAME: what the program says of itself
exact() {
	local what of n
	while read -r what of n; do
		[ "$what" = calls ] || continue
		is "$(calls "$1" "${names[$of]}")" "$n" "$1: $of"
	done <"$1.out"
}

record one --java -m 4M -- java Exact 1 1009
is "$status" 0 "one thread: status" || diag one.err
exact one
is "$(lost one)" 0 "one thread: nothing is lost"
is "$(untimed one)" 0 "one thread: every call has its end, exceptions and recursion too"
is "$(calls one '^Exact.plain')" 0 "what is not synchronized is not recorded"
like one.err '1 method left alone: it is native: .*\(Exact.machineCode\(\)\)' "a native method is left alone, which and why"
record three --java -m 4M -- java Exact 3 1009
exact three
is "$(lost three)" 0 "three threads: nothing is lost"
"$ISPOT" report --json -i three.data | jq -r '.threads[].comm' | sort >comms
is "$(grep -c '^worker-[012]$' comms)" 3 "threads have their Java names" || diag comms

# Of calls that are nested too deeply the outer ones are recorded, and each entry and exit of the others is lost.
cat >Deep.java <<-'EOJ'
	class Deep {
		static synchronized int down(int n) { return n == 0 ? 0 : 1 + down(n - 1); }
		public static void main(String[] a) { System.out.println(down(4999)); }
	}
EOJ
javac Deep.java
record deep --java -m 4M -- java -Xss16m Deep
is "$(calls deep '^Deep.down')/$(lost deep)/$(untimed deep)" 4096/$((2 * 904))/0 "calls that are nested too deeply are counted as lost" ||
	diag deep.err

record chosen --java -F 'Exact.plain' -F 'java.lang.Integer.parseInt' -F '!*.choose' -- java Exact 1 11
is "$(calls chosen '^Exact.plain')" $((11 + 4)) "-F: a method that is not synchronized"
is "$([ "$(calls chosen '^java.lang.Integer.parseInt')" -ge 4 ] && echo yes)" yes "-F: one of Java's own, loaded before"
is "$(calls chosen '^Exact.add')" 0 "-F: nothing else"
printf '%s\n' '# mine' Exact.plain '!Exact.fail' >methods
record listed --java -F @methods -- java Exact 1 11
is "$(calls listed '^Exact.plain')/$(calls listed '^Exact.add')" $((11 + 4))/0 "-F @FILE: the patterns of a file" || diag listed.err
record first --java -F 'synchronized:Exact*' -- java Exact 1 11
record again --java -F @first.data -- java Exact 1 11
is "$(calls again ^Exact)" "$(calls first ^Exact)" "-F @FILE: the methods and blocks of an earlier recording" || diag again.err
exact again
record missing --java -F @none -- java Exact 1 11
is "$status" 2 "-F @FILE: a missing file ends it before the program starts" || diag missing.err
record constructors --java -F 'Exact*.*' -- java Exact 1 1
like constructors.err 'left alone: it is a constructor' "constructors are left alone, and why"
record only --java -F 'synchronized:Exact.*' -- java Exact 1 11
is "$(calls only '^Exact.add')/$(calls only '^Exact.plain')" 11/0 "synchronized: takes what is"

# ---- the program is not harmed ----

java Exact 2 211 >bare.out 2>bare.err
record same --java -- java Exact 2 211
is "$(cat same.out)" "$(cat bare.out)" "the program's output is what it is without ispot"
is "$(grep -v '^ispot: ' same.err)" "$(cat bare.err)" "its error output as well"
record status --java -- java Exact 1 1 7
is "$status" 7 "the program's exit status is ispot's"
record shell --java -- sh -c 'java Exact 1 101; java Exact 1 101'
is "$(calls shell '^Exact.add')" 202 "two machines that a shell starts" || diag shell.err

# A machine of another user cannot write its records, nor may it fail to start because of that.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	mkdir -m 755 /tmp/"ispot-live.$$" && cp ./*.class /tmp/"ispot-live.$$"
	record other --java -- setpriv --reuid 65534 --clear-groups java -cp /tmp/"ispot-live.$$" Exact 1 11 9
	rm -rf /tmp/"ispot-live.$$"
	is "$status" 9 "a machine of another user runs" || diag other.err
	like other.err 'this Java program is not recorded: its directory cannot be written' "and it is said that nothing of it is recorded"
	like other.out 'calls add 11' "its output is there"
else
	skip "a machine of another user" "it takes root and setpriv"
fi

# ---- classes ----

record loaders --java -- java Loaders
is "$(calls loaders '^Loaders.Inner.run')" "$(awk '$1 == "calls" { print $3 }' loaders.out)" "a class of two loaders" ||
	diag loaders.err
like loaders.out '^refused$' "what the verifier refuses without the agent it refuses with it"
java Loaders 60 >wrong.out 2>wrong.err &
wrong=$!
children+=("$wrong")
eventually grep -qs begins wrong.out
"$ISPOT" record --java -p $wrong -d 1 -o wrong.data 2>wrong.err
is $? 0 "attached to a machine that refuses to change a class: status" || diag wrong.err
like wrong.err 'left alone: the Java machine refuses to change its class \(JVMTI_ERROR_[A-Z_]*\) \(Loaders.Wrong\)' \
	"that is said, and of which class"
is "$([ "$(calls wrong '^Loaders.Inner.run')" -gt 0 ] && echo yes)" yes "others are recorded"
kill $wrong

# ---- calling context, and what it all costs ----

record context --java --slow-stacks 10ms -- java Context
"$ISPOT" outliers --rule robust --json -i context.data >context.json
is "$(jq '[.blocks[] | select(.name == "Context.step(long)") | .divergent_executions[] | select(.duration_ns > 29000000)] |
	length == 6 and all(.stack_of == "execution" and (.stack[0] | startswith("Context.step(long) (Context.java:")) and
	(.stack[1] | test("^Context.rare\\(\\) \\(Context.java:[0-9]+\\)$")))' context.json)" true \
	"--slow-stacks: each long call has its stack, with lines" || diag "$(jq -c '[.blocks[].divergent_executions[] | {duration_ns, stack}]' context.json)"
is "$("$ISPOT" dump -i context.data | grep -c ' exit-stack ')" 6 "and only these" || diag context.err
"$ISPOT" outliers --rule robust --of Context.step -i context.data >context.txt
like context.txt 'called from Context.rare\(\) \(Context.java:[0-9]+\)' "text says where it was called from"
is "$(jq '.trace.section_ns >= 180000000 and .trace.section_ns < .trace.duration_ns' context.json)" true \
	"the time in critical sections is theirs" || diag "$(jq -c .trace context.json)"
is "$(jq '.trace.instrumentation_ns > 1009 * 20 and .trace.instrumentation_ns < 1009 * 100000' context.json)" true \
	"what recording cost is told" || diag "$(jq -c .trace context.json)"
record contexts --java --slow-stacks 1ns -- java Context
is "$("$ISPOT" dump -i contexts.data | grep -c ' exit-stack ')" 1010 "--slow-stacks 1ns: every call has its stack" || diag contexts.err

# ---- long calls alone ----

record long --java --keep-slower 10ms --slow-stacks 10ms -- java Context
is "$(calls long '^Context.step')" 1010 "--keep-slower: every call counts"
is "$("$ISPOT" dump -i long.data | grep -c ' exit Context.step')/$("$ISPOT" dump -i long.data | grep -c ' exit-stack ')" 6/6 \
	"the long ones are written, with their stacks" || diag long.err
"$ISPOT" outliers --rule robust --json -i long.data >long.json
is "$(jq '.blocks[0] | [.executions, .divergent, .timed]' long.json | jq -c .)" '[1010,6,1010]' "of the others the times are known" ||
	diag "$(jq -c '.blocks[0] | del(.divergent_executions)' long.json)"
for rounds in 1 1009; do
	record kept --java -m 4M --keep-slower 1ms -- java Exact 3 $rounds
	exact kept
	is "$(lost kept)/$(untimed kept)" 0/0 "$rounds rounds: nothing is lost, every call has its end" || diag kept.err
done
record whole --java -m 4M -- java Exact 3 1009
[ "$(stat -c %s kept.data)" -lt $(($(stat -c %s whole.data) / 4)) ]
ok $? "the file is much smaller" || diag "$(stat -c '%n %s' kept.data whole.data)"

# ---- many threads, and what goes wrong ----

record threads --java -m 32K -- java Exact 500 3
exact threads
is "$(lost threads)" 0 "500 threads: nothing is lost"

record overflow --java -m 4K -- java Busy 300007
made=$("$ISPOT" report --json -i overflow.data | jq '.trace.records + .trace.lost_records')
is "$made" $((2 * 300007)) "a ring that overflows: what is lost is counted exactly" || diag overflow.err

# A thread's ring is its own, and so is what it loses.
record flood --java -m 4K -- java Flood 101
is "$([ "$(lost flood)" -gt 0 ] && echo yes)" yes "a thread whose ring overflows beside one whose does not" || diag flood.err
is "$("$ISPOT" report --json -i flood.data | jq '.blocks[] | select(.name | test("Slow.step")) | [.calls, .timed_calls, .lost_records]' | jq -c .)" \
	'[101,101,0]' "what one thread loses leaves the calls of the other whole"

"$ISPOT" record --java -o killed.data -- java Busy 1000000 1 >killed.out 2>killed.err &
children+=("$!")
recorder=$!
while ! grep -qs begins killed.out; do sleep 0.1; done
sleep 0.5
kill -9 "$(pgrep -P $recorder)"
wait $recorder
is $? 137 "a machine that is killed: status" || diag killed.err
is "$([ "$(calls killed '^Busy.step')" -gt 0 ] && echo yes)" yes "what it did until then is in the file"

record nothing --java -- true
is "$status" 0 "a command that runs no Java"
like nothing.err 'no Java machine loaded the agent' "and that is said"

agent=$ROOT/build/libispot-java.so
if [ -e "$agent" ]; then
	java "-agentpath:$agent=/nonexistent" Exact 1 11 >alone.out 2>alone.err
	is $? 0 "an agent without its recorder: the program runs"
	like alone.err 'this Java program is not recorded' "and it is said"
else
	skip "an agent without its recorder" "no $agent"
fi

"$ISPOT" record --java -c 2 -- java Exact >refused.out 2>refused.err
is $? 2 "what does not go with --java is refused"
like refused.err '--java does not go with -c' "and says so"
"$ISPOT" record --java --two-pass -o refused.data -- true 2>refused.err
like refused.err '--java does not go with --two-pass: .*methods are chosen by -F' "each with its reason"
is "$(grep -vc "^hint: " refused.err)" 1 "in one line and a hint"

# ---- a running machine ----

java Busy 1000000 1 >busy.out 2>busy.err &
busy=$!
children+=("$busy")
while ! grep -qs begins busy.out; do sleep 0.1; done
"$ISPOT" record --java -p $busy -d 1 -o attached.data 2>attached.err
is $? 0 "attached: status" || diag attached.err
is "$([ "$(calls attached '^Busy.step')" -gt 0 ] && echo yes)" yes "attached: a class that was loaded before is recorded" ||
	diag attached.err
"$ISPOT" outliers -i attached.data >attached.txt
like attached.txt '· recording took [0-9.]+[mu]?s$' "attached: what recording took is told, as a time"
kill -0 $busy
is $? 0 "attached: the program goes on"
kill $busy
java Dumps 100000 >stopped.out 2>stopped.err &
stopped=$!
children+=("$stopped")
eventually test -e "/tmp/hsperfdata_$(id -un)/$stopped"
sleep 1
"$ISPOT" record --java -p $stopped -d 2 -o stopped.data 2>stopped.err
"$ISPOT" dump -i stopped.data | grep -q ' pause [0-9]* why=2'
ok $? "attached: stops for other reasons than garbage are in the recording" || diag stopped.err
jcmd $stopped VM.log list >logs 2>&1
like logs '^ *#0: stdout' "attached: what it logs can be asked for" || diag logs
unlike logs 'safepoint-[0-9]*.log' "attached: their log ends with the recording"
kill $stopped
"$ISPOT" record --java -p $$ -d 1 -o none.data 2>none.err
like none.err 'is no Java machine' "attached to something else: it is refused, and not sent a signal"

# ---- pauses and contended monitors ----

record pauses --java -- java Pauses
"$ISPOT" dump -i pauses.data >pauses.dump
like pauses.dump ' pause [0-9]+ why=1' "collections are in the recording"
is "$("$ISPOT" outliers --rule robust --json -i pauses.data |
	jq '.blocks[] | select(.name | test("step")) | .divergent_executions[] | select(.index == 500) | .paused_ns > 0')" true \
	"the execution that ran into one says so"
# A collection is told by the agent and by the log.
is "$(awk '$4 == "pause" { if ($6 == "why=1") { n++; from[n] = $1 - $5; to[n] = $1 } else { m++; f[m] = $1 - $5; t[m] = $1 } }
	END { for (i = 1; i <= m; i++) for (j = 1; j <= n; j++) if (f[i] < to[j] && t[i] > from[j]) twice++
		print (n > 0), twice + 0 }' pauses.dump)" "1 0" "a collection counts once" || diag pauses.err
record dumps --java -- java Dumps
"$ISPOT" dump -i dumps.data >dumps.dump
is "$(($(grep -c ' pause [0-9]* why=2' dumps.dump) >= 15))" 1 "stops for another reason are in the recording" || diag dumps.err
is "$("$ISPOT" outliers --rule robust --json -i dumps.data |
	jq '.blocks[] | select(.name | test("step")) | .divergent_executions[] | select(.index == 500) |
		.safepoint_ns > 0 and (.cause == "safepoint") == (.safepoint_ns * 2 >= .residual_ns)')" true \
	"the execution that they were in says so, and blames them where they are half of it"
record shelled --java -- sh -c 'java Dumps'
is "$(($("$ISPOT" dump -i shelled.data | grep -c ' pause [0-9]* why=2') >= 15))" 1 "of a machine that a shell starts as well" ||
	diag shelled.err
"$ISPOT" record --java -o stops.data -- java Dumps 100000 >stops.out 2>stops.err &
recorder=$!
children+=("$recorder")
dumped() { "$ISPOT" dump -i stops.data 2>/dev/null | grep -q ' pause [0-9]* why=2'; }
eventually dumped
ok $? "they are in the file while the program runs" || diag stops.err
child $recorder java
children+=("$child")
kill -9 $recorder
wait $recorder 2>/dev/null
dumped
ok $? "and stay there when the recorder is killed"
kill -0 "$child"
is $? 0 "which the program survives"
kill "$child"
other=$("$ISPOT" report --json -i pauses.data | jq '.threads[] | select(.comm == "other") | .tid')
like pauses.dump "$other/[0-9]+ contended [0-9]+" "a monitor that was taken"
is "$(grep -A1 "$other/[0-9]* contended" pauses.dump | grep -c 'entry Pauses.take')" 1 "the call behind it is the one that waited"

# ---- the verifier ----

verify=(-XX:+UnlockDiagnosticVMOptions -XX:+BytecodeVerificationLocal -XX:+BytecodeVerificationRemote
	--add-modules ALL-SYSTEM)
java "${verify[@]}" VerifyAll all >verified.out 2>&1
record verified_all --java -F '*' -- java "${verify[@]}" VerifyAll all
is "$(tail -1 verified_all.out)" "$(tail -1 verified.out)" "every class of the JDK's image verifies with every method rewritten" ||
	diag "$(grep refused verified_all.out | head -5)"
like verified_all.out 'linked [0-9]{5} refused 0 ' "and that is tens of thousands"
like verified_all.err 'calls of [0-9]{3}k methods' "of which more than a hundred thousand methods were rewritten"
is "$(find /dev/shm /var/tmp /tmp -maxdepth 1 -name "ispot-java.$recorder.*" | wc -l)" 0 "nothing is left in shared memory"

done_testing
