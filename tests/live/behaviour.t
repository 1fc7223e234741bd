#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A traced program behaves as it does alone: status, signals, output, what return probes could
# break; and record's own exit status follows env's.
. "$(dirname "$0")/lib.sh"
needs_probes

# same NAME COMMAND...: stdout and status as without ispot, with everything in it traced
same() {
	local name=$1
	shift
	"$@" >"$name.alone" 2>/dev/null
	local alone=$?
	record "$name" -F '*' -- "$@"
	is "$status" "$alone" "$name: status $alone" || diag "$name.err"
	cmp -s "$name.alone" "$name.out"
	ok $? "$name: output" || diag "$name.out"
}

same "exit 0" "$MB/exact" -n 11
same "exit 3" "$MB/exact" -n 11 --exit 3
same "exit 255" "$MB/exact" -n 11 --exit 255

# Nor has it files of ispot's libraries, which open debug information for an exec to inherit.
same descriptors sh -c "ls /proc/self/fd"

for signal in 15 9 11; do
	record "signal$signal" -F outer -- "$MB/exact" -n 11 --signal $signal
	is "$status" $((128 + signal)) "killed by signal $signal"
	report "signal$signal"
	is "$(block "signal$signal" outer .calls)" 11 "killed by signal $signal: all calls are there"
done

for case in cancel coroutine altstack longjmp dlsym; do
	same "$case" timeout 20 "$MB/harm" --case $case
	record "$case-calls" -F '*' -- "$MB/harm" --case $case
	report "$case-calls"
	matches_truth "$case-calls" calls
	nothing_lost "$case-calls"
done
if [ -x "$MB/exceptions" ]; then
	same exceptions timeout 20 "$MB/exceptions"
	report exceptions
	matches_truth exceptions calls
	nothing_lost exceptions
else
	skip exceptions "no C++ compiler made it"
fi

echo "from stdin" >input
"$ISPOT" record -o stdin.data -F libc:write -- cat <input >stdin.out 2>stdin.err
cmp -s input stdin.out
ok $? "stdin and stdout are the target's" || diag stdin.err

# Who starts ispot may wait for no child and tell the kernel so; the command is told, too. timeout(1)
# resets signals that whoever runs the tests ignores, as nohup does.
timeout -k 5 120 env --ignore-signal=CHLD grep SigIgn /proc/self/status >unwaited.alone
timeout -k 5 120 env --ignore-signal=CHLD "$ISPOT" record -o unwaited.data -F libc:write -- \
	grep SigIgn /proc/self/status >unwaited.out 2>unwaited.err
is $? 0 "SIGCHLD ignored: it ends, with the command's status" || diag unwaited.err
cmp -s unwaited.alone unwaited.out
ok $? "SIGCHLD ignored: by the command, too" || diag "$(cat unwaited.alone)" "$(cat unwaited.out)"
asked=$(nice -n 3 cat /proc/self/stat | cut -d' ' -f19)
for engine in kernel in-process auto; do
	nice -n 3 "$ISPOT" record --engine "$engine" -q -o nice.data -- cat /proc/self/stat >nice.out 2>nice.err
	is "$(cut -d' ' -f19 nice.out)" "$asked" "$engine: the command has the nice value that ispot was given" || diag nice.err
done
report unwaited
is "$(block unwaited write .calls)" 1 "SIGCHLD ignored: its calls" || diag unwaited.err

record missing -F main -- ./no-such-program
is "$status" 127 "no such program: 127"
like missing.err '^ispot: .*no-such-program.*; ' "no such program: one line"
echo >plain
record not_executable -F main -- ./plain
is "$status" 126 "not executable: 126"
record no_function -F no_such_function_xyz -- "$MB/exact" -n 1
is "$status" 125 "ispot's own failure: 125"
record usage --no-such-option -- "$MB/exact" -n 1
[ "$status" = 2 ] || [ "$status" = 125 ]
ok $? "usage: 2 or 125" || diag "got: $status"

record quiet -q -F outer -- "$MB/exact" -n 11
is "$status" 0 "-q: status"
is "$(cat quiet.err)" "" "-q: nothing on stderr"

# Ctrl-C goes to the whole foreground group; the recorder outlives the target and writes the file.
setsid "$ISPOT" record -o interrupted.data -F spawned_call -- \
	"$MB/spawner" --seconds 300 --log spawner.log >interrupted.out 2>interrupted.err &
recorder=$!
children+=("$recorder")
eventually begun interrupted
sleep 0.5
kill -INT -- "-$recorder"
wait "$recorder"
report interrupted
ok $? "Ctrl-C: the file is whole" || diag interrupted.report-err
matches_truth interrupted calls

# Of ispot bench: what was measured stays. (A job of this shell's would ignore SIGINT.)
setsid env --default-signal=INT "$ISPOT" bench >bench.out 2>bench.err &
bench=$!
children+=("$bench")
eventually grep -q '^nop5 .* 1 ' bench.out
kill -INT -- "-$bench"
wait "$bench"
is $? 0 "bench, Ctrl-C: status" || diag bench.err
like bench.out '^nop5 +return +1 ' "bench, Ctrl-C: the rows of one thread stay"
like bench.err 'interrupted: [0-9]+ threads at once were not measured' "bench, Ctrl-C: what is missing is said"
setsid env --default-signal=INT "$ISPOT" bench --json >bench.json 2>bench.err &
bench=$!
children+=("$bench")
sleep 0.2
kill -INT -- "-$bench"
wait "$bench"
case $? in
0) jq -e length bench.json >/dev/null ;;
1) grep -q 'interrupted before anything' bench.err ;;
130) [ ! -s bench.err ] ;; # before it began
*) false ;;
esac
ok $? "bench --json, Ctrl-C: rows, or the word that there are none" || diag bench.err bench.json

done_testing
