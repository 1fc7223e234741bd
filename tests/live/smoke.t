#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Each command, engine, way of ending a recording and exit mechanism once, in seconds: what `make test` has of the
# live tests, beside kernel.t (each kind of record). Counts are exact; nothing here depends on how busy the machine is.
. "$(dirname "$0")/lib.sh"
needs_probes
needs_helper patched neighbours hostile_cxx

# said NAME PATTERN: of the last command's messages
said() { like "$1.err" "$2" "$1: says so"; }

# ---- how functions are left, and what check says of it beforehand ----

"$ISPOT" check --json -F inner -F 'tail_*' "$MB/exact" >check.json 2>check.err
is "$(jq -r '[.functions[] | select(.name == "inner") | .possible] | tojson' check.json)" "[true]" "check: inner can be traced"
record plain -F outer -F middle -F inner -F factorial -F 'tail_*' -F only_thread_zero -- "$MB/exact" -t 3 -n 211
is "$status" 0 "record: the command's status" || diag plain.err
report plain
matches_truth plain calls
nothing_lost plain
is "$(block plain inner .probe.exit)" "$(jq -r '.functions[] | select(.name == "inner") | .probe.exit' check.json)" \
	"the exit mechanism is the one that check names"
record thrown -F throw_below -F catch_above -F no_exception -- "$MB/exceptions"
is "$status" 0 "exceptions pass through traced frames" || diag thrown.err
report thrown
matches_truth thrown calls
is "$(jq -r '[.blocks[] | select(.kind == "function") | .probe.exit] | unique | any(. == "ret-sites")' thrown.json)" true \
	"C++ functions are left by ret-sites" || diag "$(jq -c '[.blocks[] | {name, probe}]' thrown.json)"
"$HELPERS/hostile_cxx" >cxx.alone 2>/dev/null
record cxx -F '*' -- "$HELPERS/hostile_cxx"
cmp -s cxx.alone cxx.out
ok $? "everything traced: the same output" || diag cxx.err

# ---- engines ----

record patched --engine in-process -F inner -F middle -- "$MB/exact" -t 3 -n 211
if grep -q 'stamps by the TSC' patched.err || [ "$(uname -m)" != x86_64 ]; then
	skip "the engine in process" "this machine has none"
else
	is "$status" 0 "the engine in process: the command's status" || diag patched.err
	report patched
	is "$(block patched inner .calls)/$(block patched middle .calls)" 633/211 "each call is counted" || diag patched.err
	is "$(block patched inner .probe.engine)" in-process "by code in the program"
	"$HELPERS/patched" wait 2 >on.out & on=$!
	children+=("$on")
	started $on patched
	record on --engine in-process -d 0.3 -F leaf -p $on
	is "$status" 0 "attached to a program that runs" || diag on.err
	gone $on
	is "$?" 1 "which goes on"
	kill $on 2>/dev/null
	wait $on 2>/dev/null
	report on
	is "$(($(block on leaf .calls) > 0))" 1 "its calls are recorded"
	record engines --engine auto -F inner -F pthread_join -- "$MB/exact" -t 3 -n 211
	report engines
	is "$(trace engines .producer)" "bpf in-process" "both engines in one recording" || diag engines.err
	is "$(block engines inner .calls)/$(block engines pthread_join .calls)" 633/3 "each call is counted once"
	is "$(block engines inner .probe.engine)/$(block engines pthread_join .probe.engine)" in-process/kernel "by its function's engine"
fi

# ---- what is recorded of which processes ----

"$MB/exact" -t 1 -n 300000 >others.out & others=$!
children+=("$others")
record one_of_two -F inner -- "$MB/exact" -t 1 -n 101
kill $others 2>/dev/null
wait $others 2>/dev/null
report one_of_two
is "$(block one_of_two inner .calls)" 303 "another process of the same program is not recorded"
is "$(jq '[.threads[].pid] | unique | length' one_of_two.json)" 1 "nor is it among the threads"

record children -F child_work -- sh -c "'$MB/children' -n 2 >expect; cat expect"
report children
matches_truth children calls
dropped=', none dropped'
[ "$(trace children .lost_records)" = 0 ] || dropped='[0-9]k? events? dropped'
like children.err "$dropped" "record's last line has dropped events where the report has some"
unlike children.err ', ,|: ,' "its parts have one comma between them"
is "$(grep -cE '^.{81,}' children.err)" 0 "record's last lines are no wider than a terminal"
record alone --no-inherit -F child_work -- "$MB/children" -n 2
report alone
is "$(block alone child_work .calls)" 202 "--no-inherit: nothing of children"
printf 'outer\n!middle\ninner\n' >patterns
record file -F @patterns -- "$MB/exact" -n 31
report file
is "$(jq -r '[.blocks[] | select(.kind == "function") | .name] | sort | join(" ")' file.json)" "inner outer" "-F @FILE, and !PATTERN"
record again -F @file.data -- "$MB/exact" -n 17
report again
is "$(jq -r '[.blocks[] | select(.kind == "function") | .name] | sort | join(" ")' again.json)" "inner outer" "-F @RECORDING: its selection"
if getent passwd nobody >/dev/null; then
	record user --user nobody -F libc:getuid -- sh -c 'id -un; exit'
	is "$(cat user.out)" nobody "--user: the command is run as that user"
else
	skip "--user" "there is no user nobody"
fi

"$MB/spawner" --seconds 300 --log spawner.log >/dev/null 2>&1 &
spawner=$!
children+=("$spawner")
started "$spawner" spawner
record attached -p $spawner -d 0.7 -F spawned_call
is "$status" 0 "-p, -d: status" || diag attached.err
kill -0 $spawner
ok $? "-p: the program runs on"
report attached
[ "$(block attached spawned_call .calls)" -gt 0 ]
ok $? "-p: its calls are there" || diag attached.err
record with -p $spawner -F spawned_call -- sleep 0.3
is "$status" 0 "-p PID -- CMD: ends with the command" || diag with.err
for duration in 0.7 3 9; do # a recorder that gets no CPU is late for its bursts
	record bursts --burst 50ms/150ms -p $spawner -d $duration -F spawned_call
	"$ISPOT" dump -i bursts.data | grep -c ' set-on ' >bursts.on
	[ "$(cat bursts.on)" -ge 2 ] && break
done
[ "$(cat bursts.on)" -ge 2 ]
ok $? "--burst: the probes go in and out" || diag bursts.err
"$ISPOT" record -o interrupted.data -p $spawner -F spawned_call >interrupted.out 2>interrupted.err &
recorder=$!
children+=("$recorder")
eventually begun interrupted
kill -INT $recorder
wait $recorder
is $? 0 "-p until Ctrl-C: status"
report interrupted
ok $? "-p until Ctrl-C: the file is read" || diag interrupted.report-err
"$ISPOT" record -o killed.data -p $spawner -F spawned_call >killed.out 2>killed.err &
recorder=$!
children+=("$recorder")
eventually begun killed
kill -KILL $recorder
wait $recorder 2>/dev/null
report killed
ok $? "a killed recorder's file is read" || diag killed.report-err
kill -0 $spawner
ok $? "and its target lives"
kill $spawner
wait $spawner 2>/dev/null

# ---- how much is recorded ----

record sampled -c 5 -F inner -- "$MB/exact" -n 500
report sampled
is "$(block sampled inner .estimated_calls)" 1500 "-c: the others are counted"
record kept --keep-slower 1s -F inner -- "$MB/exact" -n 211
report kept
is "$(block kept inner .calls)" 633 "--keep-slower: short calls are summed up"
is "$("$ISPOT" dump --events -i kept.data | grep -c ' entry ')" 0 "--keep-slower: and not written"
record small --max-size 100K -F inner -- "$MB/exact" -n 200003
is "$status" 0 "--max-size: the command's status"
[ "$(stat -c %s small.data)" -le $((200 * 1024)) ]
ok $? "--max-size: the file is bounded" || diag "$(stat -c %s small.data) bytes"
# On a busy machine the first program has begun late: then everything takes ten times as long.
for tenths in 1 10; do
	record late -D ${tenths}00ms -F inner -- sh -c "'$MB/exact' -n 5; sleep $((tenths * 4 / 10)).$((tenths * 4 % 10)); '$MB/exact' -n 7"
	report late
	[ "$(block late inner .calls)" = 21 ] && break
done
is "$(block late inner .calls)" 21 "-D: what comes before is not recorded" || diag late.err
# On a busy machine the program may be over before the choice has fallen.
for calls in 8001 32001 96001; do
	record chosen -- "$MB/contended" -n $calls
	report chosen
	[ "$(jq '[.blocks[] | select(.kind == "function" and .calls > 0)] | length' chosen.json)" -gt 2 ] && break
	echo "# with $calls calls too few functions were chosen"
done
is "$status" 0 "without -F: status" || diag chosen.err
[ "$(jq '[.blocks[] | select(.kind == "function" and .calls > 0)] | length' chosen.json)" -gt 2 ]
ok $? "without -F: functions are chosen" || diag chosen.err
record passes --two-pass -- "$MB/mutex" -n 301
is "$status" 0 "--two-pass: status" || diag passes.err

# ---- what probing costs, kept from one recording to the next ----

mkdir -m 700 costs
known=${ISPOT_CALIBRATION-} # of this run of tests, for all other recordings
export ISPOT_CALIBRATION=$DIR/costs/file
notices() { "$ISPOT" report --json -i "$1.data" | jq -r '.notices[]'; }
for name in first next; do record measured_$name -F outer -- "$MB/exact" -n 11; done
notices measured_first >said.first; unlike said.first 'is from .*costs/file' "the first recording measures it"
notices measured_next >said.next; like said.next 'is from .*costs/file' "the next takes it from the file, and says so"
rows() { "$ISPOT" dump --meta -i "$1.data" | grep -c '"kind":"calibration","class".*"when":"before"'; }
[ "$(rows measured_next)" -gt 0 ]
ok $? "which its own file has" || diag costs/file
is "$(rows measured_next)" "$(rows measured_first)" "all of them"
chmod 666 costs/file
record measured_foreign -F outer -- "$MB/exact" -n 11
said measured_foreign 'ISPOT_CALIBRATION: .*others own it or may write to it'
chmod 600 costs/file
echo '{"kind":"costs","machine":"another"}' >costs/file
record measured_again -F outer -- "$MB/exact" -n 11
is "$status" 0 "a file of another machine: measured again"
like costs/file '"kind":"calibration"' "and written"
if [ "$known" ]; then ISPOT_CALIBRATION=$known; else unset ISPOT_CALIBRATION; fi

# ---- exit statuses ----

record failed -F main -- sh -c 'exit 7'
is "$status" 7 "a command's status"
# shellcheck disable=SC2016 # for the other shell
record signaled -F main -- sh -c 'kill -TERM $$'
is "$status" 143 "128 and the signal"
record missing -F main -- ./no-such-program
is "$status" 127 "no such command"
touch not-executable
record denied -F main -- ./not-executable
is "$status" 126 "a command that cannot be run"
record wrong -F no_such_function_at_all -- "$MB/exact" -n 1
is "$status" 125 "nothing that could be traced" || diag wrong.err
said wrong 'no_such_function_at_all'
"$ISPOT" report --no-such-option >usage.out 2>usage.err
is $? 2 "a usage error of another command"
"$ISPOT" report -i no-such-file >none.out 2>none.err
is $? 1 "a failure of another command"
said none 'no-such-file'

# ---- every view and every other command ----

most_called=$(jq -r '[.blocks[] | select(.kind == "function")] | max_by(.calls).name' chosen.json)
for view in "" "--by lock" "--by sequence" "--by site" "--by thread" "--by transition" "--slow $most_called" --csv; do
	# shellcheck disable=SC2086 # options
	"$ISPOT" report -i chosen.data $view >view.out 2>view.err && [ -s view.out ]
	ok $? "report $view" || diag view.err
done
"$ISPOT" report -i chosen.data --html page.html >view.out 2>view.err && grep -q '</html>' page.html
ok $? "report --html" || diag view.err
for format in chrome csv dot folded perf pprof speedscope; do
	"$ISPOT" export -i plain.data --format $format -o plain.$format 2>export.err && [ -s plain.$format ]
	ok $? "export --format $format" || diag export.err
done
"$ISPOT" dump -i plain.data >plain.txt && "$ISPOT" dump --from-text plain.txt -o back.data && "$ISPOT" dump -i back.data >back.txt
cmp -s plain.txt back.txt
ok $? "dump and back" || diag "$(diff plain.txt back.txt | head -5)"
record second -F outer -F middle -F inner -- "$MB/exact" -t 3 -n 211
"$ISPOT" diff plain.data -- second.data >diff.out 2>diff.err
ok $? "diff" || diag diff.err
"$ISPOT" diff --json plain.data -- second.data 2>diff.err | jq -e . >/dev/null
ok $? "diff --json" || diag diff.err
"$ISPOT" stat -q -o stat.json --json -F inner -- "$MB/exact" -n 103 >stat.out 2>stat.err
is "$(jq -s '[.[] | select(.trace) | .blocks[] | select(.name == "inner").calls] | add' stat.json)" 309 "stat: every call" || diag stat.err
record threads -F join_barrier -- "$MB/barrier" -n 101
"$ISPOT" imbalance -i threads.data --json >imbalance.json 2>imbalance.err
is "$(jq -r '.sections | type' imbalance.json)" array "imbalance" || diag imbalance.err
"$ISPOT" outliers -i plain.data --json >outliers.json 2>outliers.err
is "$(jq -r '.blocks | type' outliers.json)" array "outliers" || diag outliers.err
"$ISPOT" fleet record -o one.fleet -F marker:request -- "$HELPERS/neighbours" 1 >fleet.out 2>fleet.err
ok $? "fleet record" || diag fleet.err
"$ISPOT" fleet reduce --db one.db one.fleet >reduce.out 2>reduce.err && "$ISPOT" fleet report --db one.db --json >fleet.json 2>fleet.err
ok $? "fleet reduce and report" || diag reduce.err fleet.err
"$ISPOT" fleet simulate -o simulated --machines 2 --samples 2000 >simulate.out 2>simulate.err
ok $? "fleet simulate" || diag simulate.err
"$ISPOT" list --json 2>list.err | jq -e .counters >/dev/null
ok $? "list" || diag list.err

# ---- Java, and programs that count their own edges ----

if command -v javac >/dev/null && javac -d . "$ROOT"/microbench/java/*.java 2>javac.err; then
	record java --java -- java Exact 2 211
	is "$status" 0 "--java: status" || diag java.err
	is "$("$ISPOT" report --json -i java.data | jq '[.blocks[] | select(.name | test("^Exact.add\\(")) | .calls] | add')" \
		"$(awk '$1 == "calls" && $2 == "add" { print $3 }' java.out)" "--java: every call of a synchronized method"
	record monitors --java -- java Monitors
	is "$status" 0 "--java: monitors for which threads queue" || diag monitors.err
else
	skip "--java" "no JDK is installed"
fi
if [ -x "$ROOT/build/edges/uneven" ]; then
	"$ISPOT" imbalance --count edges --json -- "$ROOT/build/edges/uneven" --case root -n 301 >edges.json 2>edges.err
	is "$(jq -r .provider edges.json)" edges "imbalance --count edges" || diag edges.err
else
	skip "imbalance --count edges" "build/edges/uneven is missing: run make"
fi

# ---- every kind of record was there ----

record stacks --slow-stacks 1us -F outer -- "$MB/exact" -n 11
record recursive -c 3 -F factorial -- "$MB/exact" -n 101
record faults -F touch_pages -- "$MB/pagefault" -n 101
# Its switches cost more than 1%, which takes longer to be seen on a loud machine.
for seconds in 3 9 27; do
	record costly --overhead 1 -- timeout "$seconds" "$MB/pipe" -n 100000000
	"$ISPOT" dump --events -i costly.data 2>/dev/null | awk '$4 == "switches-on" { on = 1 } END { exit !on }' && break
done
# What may not come in so short a run: a garbage collection, calls inside of others of one method. Nobody writes faults.
elsewhere=" pause inside faults "
command -v javac >/dev/null || elsewhere+="held contended "
kinds=$(sed -n 's/.*\[REC_[A-Z_]*\] = { .name = "\([a-z-]*\)".*/\1/p' "$ROOT/src/trace/record.c")
for data in *.data; do "$ISPOT" dump --events -i "$data" 2>/dev/null; done | awk '{ print $4 }' | sort -u >seen
for kind in $kinds; do
	[[ $elsewhere == *" $kind "* ]] || grep -qx "$kind" seen
	ok $? "a record of the kind $kind"
done

# ---- progress ----

# drawn STDOUT: what stands on the terminal that a recorder of two seconds has its errors on
drawn() {
	python3 - "$1" "$ISPOT" record -o drawn.data -F inner -- sh -c "'$MB/exact' -n 3 >/dev/null; sleep 2" <<-'EOP'
		import os, pty, subprocess, sys
		master, slave = pty.openpty()
		out = slave if sys.argv[1] == "terminal" else subprocess.DEVNULL
		p = subprocess.Popen(sys.argv[2:], stdin=subprocess.DEVNULL, stdout=out, stderr=slave)
		os.close(slave)
		try:
		    while more := os.read(master, 65536):
		        os.write(1, more)
		except OSError:  # nobody has the other end any more
		    pass
		p.wait()
	EOP
}
drawn file >on_file
like on_file 'recording: [0-9.kM]+ calls' "record CMD says how far it is, if its output is redirected"
is "$(tr '\r' '\n' <on_file | grep -A1 'recording:' | tail -n 1 | cut -c1-3)" $'\e[K' "and takes that away at the end"
drawn terminal >on_terminal
is "$(grep -c 'recording:' on_terminal)" 0 "but not between the lines of a program that has the terminal"

# ---- nothing is left ----

copy=$DIR/own_exact
cp "$MB/exact" "$copy"
record last -F inner -- "$copy" -n 3
tracefs=$(awk '$3 == "tracefs" { print $2; exit }' /proc/mounts)
if [ "$tracefs" ]; then
	is "$(grep -c "$copy" "$tracefs/uprobe_events")" 0 "no probe is left"
else
	skip "no probe is left" "tracefs is not mounted here"
fi
is "$(stat -c %a last.data)" 600 "a recording is its owner's alone"
done_testing
