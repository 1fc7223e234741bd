#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# ispot stat: the counts of a recording without its file, by interval and as a whole.
. "$(dirname "$0")/lib.sh"
needs_probes
needs_helper hostile

stat() { # stat NAME ARGS...: status, NAME.json, NAME.out of the command
	local name=$1
	shift
	"$ISPOT" stat -q -o "$name.json" --json "$@" >"$name.out" 2>"$name.err"
	status=$?
}

stat exact -F outer -F middle -F inner -I 100 -- "$MB/exact" -t 3
is "$status" 0 "status" || diag exact.err
is "$(jq -s '[.[] | select(.interval)] | length > 0' exact.json)" true "there are intervals"
for f in outer middle inner; do
	wanted=$(awk -v f="block=$f" '$2 == f { sub("calls=", "", $3); print $3 }' exact.out)
	is "$(jq --arg f $f 'select(.trace) | .blocks[] | select(.kind == "function" and .name == $f).calls' exact.json)" \
		"$wanted" "$f: every call counted"
	is "$(jq -s --arg f $f '[.[] | select(.interval).blocks[] | select(.kind == "function" and .name == $f).calls] | add' \
		exact.json)" "$wanted" "$f: each call in one interval"
done
is "$(jq 'select(.trace).trace.lost_records' exact.json)" 0 "nothing lost"
is "$(find . -name '*.data' ! -name try.data)" "" "no file is left"

printf 'sleep 0.5\n"%s" -n 2\n' "$MB/children" >script
stat sh -F child_work -- sh script
like sh.json 'functions joined after' "functions that join later begin the sums again, said"

stat status -F main -- sh -c 'exit 3'
is "$status" 3 "the command's own status"
stat none -F main -- ./no-such-program
is "$status" 127 "no such command"

# Too few calls for a verdict: their durations are shown, and which interval would do. It makes no processes, for which it
# would wait on a loud machine, where its slow calls have a share of their own, too.
naps=(/usr/bin/perl -MTime::HiRes=sleep -e 'sleep 0.1 for 1 .. 12')
"$ISPOT" stat -q -o few.txt -F 'libc.so.6:clock_nanosleep' -- "${naps[@]}"
like few.txt ' CALLS +P50 +P99 .*CAUSE +FUNCTION$' "few calls: a table all the same" || diag few.txt
like few.txt ' 12 +1[0-9][0-9]ms .*too few calls.* +clock_nanosleep' "few calls: how long they take" || diag few.txt
"$ISPOT" stat -q -o few.txt -I 500 -F 'libc.so.6:clock_nanosleep' -- "${naps[@]}"
like few.txt 'a verdict needs 100 calls' "few calls: the note on the interval" || diag few.txt
printf 'sleep 0.7; sleep 0.1; sleep 0.1; sleep 0.1; sleep 0.1; sleep 0.1\n' >late
"$ISPOT" stat -q -o late.txt -I 200 -F 'libc.so.6:clock_nanosleep' -- sh late
head -3 late.txt >first.txt
unlike first.txt 'a verdict needs' "no call in the first interval: no note there" || diag late.txt
is "$(grep -c 'a verdict needs 100 calls' late.txt)" 1 "the note comes once, with the first interval that has calls" || diag late.txt

# Without -F it chooses functions, as record does: some that its threads wait in, or where the time goes.
stat chosen -I 500 -d 6 -- "$MB/contended" -t 60
is "$status" 0 "without -F: status" || diag chosen.err
is "$(jq 'select(.trace) | [.blocks[] | select(.calls > 0)] | length > 0' chosen.json)" true \
	"without -F: there are functions" || diag chosen.err
unlike chosen.json 'do not add up' "without -F: the calls before functions joined are not missed"

# The load may come later: what the probes cost is looked at again and again. 2 s without a traced
# call, then 8 s of nothing else.
printf '"%s" --function pthread_mutex_lock --seconds 2\n"%s" --seconds 8\n' "$MB/call_cost" "$MB/call_cost" >script
"$ISPOT" stat -o load.txt -F hot -- sh script >out 2>load.err
is $? 0 "status" || diag load.err
like load.err 'the probes (slow the target by more than|take more CPU time)' "load that comes later is warned of while it runs"

# Memory: twenty times the calls, nothing more to keep: 16 MiB, which a busy machine may fill by what waits
# to be read, are 18 bytes for each of the others.
peak() { # peak FUNCTION CMD...: KiB
	python3 - "$ISPOT" stat -q -o peak.txt -F "$1" -- "${@:2}" <<'PY'
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
PY
}
if [ "${ASAN_OPTIONS-}${TSAN_OPTIONS-}" ]; then
	skip "memory" "a sanitizer keeps what is freed"
elif command -v python3 >/dev/null; then
	# ten times the threads; 2 KiB and more for each of these 18,000 if they were kept
	few=$(peak one_step "$HELPERS/hostile" threads 2000)
	many=$(peak one_step "$HELPERS/hostile" threads 20000)
	ok $((many > few + 18000)) "threads that have ended leave no memory behind" || diag "$few KiB, $many KiB"
	few=$(peak empty_call "$MB/empty" -n 50021)
	many=$(peak empty_call "$MB/empty" -n 1000003)
	ok $((many > few + 16384)) "twenty times the calls take no more memory" || diag "$few KiB, $many KiB"
else
	skip "memory" "python3 is missing"
fi
"$ISPOT" stat -q -o summary.txt -F empty_call -- "$MB/empty" -n 1000003 >summary.out 2>summary.err
like summary.txt ' 1M calls' "text: the summary"
done_testing
