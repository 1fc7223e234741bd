#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A signal to the recorder ends it and the command in every phase: while it looks for what is hot,
# while it traces, in both of two passes. The file has what there is. And: the second pass keeps
# the budget too.
. "$(dirname "$0")/lib.sh"
needs_probes

# begin NAME RECORD-ARGS...: in the background, as a shell without jobs starts it; the command
# leaves its pid in NAME.pid
begin() {
	local name=$1
	shift
	rm -f "$name.pid"
	NAME=$name "$ISPOT" record -o "$name.data" "$@" >"$name.out" 2>"$name.err" &
	recorder=$!
	children+=("$recorder")
}

# ends NAME SIGNAL STATUS: sent to the recorder alone, it ends both
ends() {
	local name=$1 pid
	eventually test -s "$name.pid"
	pid=$(cat "$name.pid")
	[ -n "$pid" ] && children+=("$pid")
	sleep 0.5
	kill "-$2" "$recorder"
	eventually gone "$recorder"
	ok $? "$name: SIG$2 ends the recorder" || kill -KILL "$recorder"
	wait "$recorder"
	is $? "$3" "$name: SIG$2: the command's status"
	gone "$pid"
	ok $? "$name: SIG$2 ends the command" || kill -KILL "$pid"
}

readable() {
	report "$1"
	ok $? "$1: the file can be read" || diag "$1.report-err"
}

cat >endless <<EOF2
#!/bin/sh
echo \$\$ >\$NAME.pid
exec "$MB/empty" -n 100000000000
EOF2
# The first time it ends, and its function takes long enough to be traced; the second time it is
# called for nothing.
cat >later <<EOF2
#!/bin/sh
[ -e \$NAME.ran ] || { : >\$NAME.ran; exec "$MB/mutex" -t 1 -n 10007; }
echo \$\$ >\$NAME.pid
exec "$MB/mutex" -t 1 -d 0 -n 100000000000
EOF2
# Lives with both signals.
cat >deaf <<EOF2
#!/bin/sh
trap '' INT TERM
echo \$\$ >\$NAME.pid
exec "$MB/empty" -n 100000000000
EOF2
chmod +x endless later deaf

begin chosen -F empty_call ./endless
ends chosen TERM 143
readable chosen
begin hybrid ./endless
ends hybrid TERM 143
readable hybrid
begin first_pass --two-pass ./endless
ends first_pass TERM 143
# What is seen of the budget in the second pass, as soon as the file says it.
taken_out() {
	"$ISPOT" dump --meta -i second_pass.data 2>/dev/null |
		grep -q '"kind":"not_traced","name":"locked_add",.*budget once traced'
}
begin second_pass --two-pass ./later
eventually test -s second_pass.pid
eventually taken_out
ok $? "second pass: what costs more than the budget is taken out" || diag second_pass.err
ends second_pass TERM 143
like second_pass.err 'second pass' "second pass: it was in the second"
readable second_pass
[ "$(trace second_pass .calls)" -gt 0 ]
ok $? "second pass: calls are in the file" || diag second_pass.err
is "$(jq -r '[.not_traced[] | select(.name == "locked_add" and (.reason | test("once traced"))) | .name] | unique | length' second_pass.json)" 1 \
	"second pass: what was taken out is in the report" ||
	diag "$(jq -c '[.not_traced, .self_cost, .trace.calls]' second_pass.json)"

# A job of a shell without job control ignores SIGINT, and what it starts with it.
begin ignores ./endless
ends ignores INT 143
begin deaf ./deaf
eventually test -s deaf.pid
pid=$(cat deaf.pid)
children+=("$pid")
sleep 0.5
kill -TERM "$recorder"
wait "$recorder"
kill -0 "$pid"
ok $? "a command that lives with SIGTERM is not killed"
like deaf.err "process $pid has not ended" "and said to run on"
readable deaf
kill -KILL "$pid"

# What ends as asked has done well, whatever ends the command.
record timed -d 0.3 -F empty_call -- "$MB/empty" -n 100000000000
is "$status" 0 "-d with a command that it ends: status" || diag timed.err
is "$("$ISPOT" dump -i timed.data | jq -r 'select(.kind == "end") | .reason')" duration \
	"-d: the file says that it ended the recording"
"$ISPOT" stat -d 0.3 -F empty_call -- "$MB/empty" -n 100000000000 >timed.out 2>timed.err
is "$?" 0 "stat -d with a command that it ends: status" || diag timed.err
record shorter -d 60 -F empty_call -- sh -c "exit 7"
is "$status" 7 "-d longer than the command: the command's own status" || diag shorter.err

# From Linux 6.13 on no event closes while a thread is inside of a call with a return probe and meets return probes
# again and again. Those of another set are met, unless all have left before the first one closes.
cat >loaded.c <<'EOF'
volatile long sum;
__attribute__((noinline)) long inner(long n) { for (long i = 0; i < n; i++) sum += i; return sum; }
EOF
cat >loads.c <<'EOF'
#include <dlfcn.h>
#include <stdio.h>
#include <time.h>
__attribute__((noinline)) long outer(const char *file)
{
	long (*inner)(long) = (long (*)(long))dlsym(dlopen(file, RTLD_NOW), "inner");
	time_t end = time(NULL) + 60;
	long n = 0;
	while (time(NULL) < end) n += inner(20000) != 0;
	return n;
}
int main(int argc, char **argv) { printf("%ld\n", outer(argv[argc - 1])); return 0; }
EOF
if cc -O1 -fPIC -shared -o loaded.so loaded.c 2>compile.err && cc -O1 -o loads loads.c -ldl 2>compile.err; then
	foreign= # what removes probes meanwhile waits for the program, and lets nobody else remove any
	for _ in 1 2 3 4 5; do
		record loads -d 1 -F outer -F ./loaded.so:inner -- ./loads ./loaded.so
		foreign+=$(cut -d' ' -f1 /sys/kernel/tracing/uprobe_events 2>/dev/null)
		[ -s loads.out ] && break
	done
	if [ -s loads.out ] && [ -n "$foreign" ]; then
		skip "the recording ends while calls with return probes go on" "others have probes on this kernel"
	else
		is "$status/$(cat loads.out)" 0/ "the recording ends while calls with return probes go on" || diag loads.err
	fi
	is "$("$ISPOT" dump --meta -i loads.data | jq -r 'select(.kind == "function") | .set' | sort -u | wc -l)" 2 "of two sets" || diag loads.err
else
	skip "the recording ends while calls with return probes go on" "no C compiler"
	skip "of two sets" "no C compiler"
fi

# It ends before the recording was to begin.
record delayed -D 300 -F outer -- "$MB/exact" -n 11
is $status 0 "-D longer than the command: status" || diag delayed.err
report delayed
is "$(jq -c '[.trace.calls, ([.notices[] | select(tostring | test("what probing costs") | not)] | length), .trace.duration_ns < 1000000000]' delayed.json)" '[0,1,true]' \
	"-D longer than the command: a recording of no time, with one notice" || diag delayed.json
like delayed.err 'before the time of -D was over' "-D longer than the command: said"

done_testing
