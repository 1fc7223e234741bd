#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The engine in process: counts are exact over threads, forks and signals, programs behave as they do
# without it, patches come out again, and whatever ends the recorder leaves the program running.
. "$(dirname "$0")/lib.sh"

[ "$(uname -m)" = x86_64 ] || skip_all "it sets breakpoints of x86-64; instubs.t is for others"
needs_command jq awk
needs_helper patched locked swapped
patched=$HELPERS/patched
"$ISPOT" record -q --engine in-process -o probe.data -F leaf "$patched" 1 0 1 0 >probe.out 2>probe.err ||
	{ grep -q 'stamps by the TSC' probe.err && skip_all "no stable TSC here: $(cat probe.err)"; }

# calls NAME FUNCTION; lost NAME: of the recording
calls() { "$ISPOT" report --json -i "$1.data" | jq --arg f "$2" '[.blocks[] | select(.name == $f) | .calls] | add // 0'; }
block_of() { "$ISPOT" report --json -i "$1.data" | jq --arg f "$2" ".blocks[] | select(.name == \$f and .kind == \"function\") | .$3"; }
trace_of() { "$ISPOT" report --json -i "$1.data" | jq -r ".trace.$2"; }

# ---- counts ----

# exact NAME: recorded and lost is what the program made
exact() {
	local made recorded
	made=$(awk '/^calls/ { n += 2 * $3 } END { print n }' "$1.out")
	recorded=$("$ISPOT" report --json -i "$1.data" | jq '.trace.records + .trace.lost_records')
	is "$recorded" "$made" "$1: each entry and exit is recorded or counted as lost" || diag "$1.err"
}

engine=(--engine in-process -F leaf -F deep -F in_handler)
record one "${engine[@]}" -- "$patched" 1 0 2003 0
is "$status" 0 "one thread: status" || diag one.err
exact one
is "$(calls one leaf)/$(calls one deep)" "$(awk '/ leaf/ { l = $3 } / deep/ { print l "/" $3 }' one.out)" "one thread: calls of each function"
is "$(trace_of one lost_records)/$(trace_of one untimed_calls)" 0/0 "one thread: nothing is lost, each call has its end"
is "$(trace_of one producer)" in-process "trace.producer"
is "$("$ISPOT" report --json -i one.data | jq -r '[.blocks[] | select(.kind == "function") | .probe.engine] | unique[]')" in-process "probe.engine of its blocks"
is "$("$ISPOT" report --json -i one.data | jq '.self_cost.pair_p50_ns > 0 and .self_cost.pair_p50_ns < 1000')" true "what a pair of stamps costs is measured"
is "$(block_of one leaf floor)/$("$ISPOT" report --json -i one.data | jq '.self_cost.probes_cost_ns > 0')" "$(block_of one leaf 'floor | numbers')/true" "floors and the recording's cost go by that"
record many "${engine[@]}" -- "$patched" 3 8 401 100
is "$status" 0 "threads, forks and signals: status" || diag many.err
exact many
is "$(block_of many leaf threads)" 27 "threads, forks and signals: each thread of each process"
if [ "$(trace_of many lost_records)" = 0 ]; then
	is "$(trace_of many untimed_calls)" 0 "threads, forks and signals: no call is mispaired"
else
	skip "threads, forks and signals: no call is mispaired" "records were lost"
fi
record small "${engine[@]}" -m 4K -- "$patched" 2 2 401 0
exact small
record status --engine in-process -F leaf -- env A=1 "$patched" wait
is "$status" 2 "the program's exit status is ispot's, behind a wrapper" || diag status.err
record child "${engine[@]}" -- timeout -k 5 60 sh -c "$patched 1 2 401 0"
is "$status" 0 "a program that is the child of wrappers: status" || diag child.err
exact child
record late --engine in-process -F leaf -- timeout 1 "$patched" wait 9
is "$status" 124 "a wrapper that ends it: its status" || diag late.err
record shell --engine in-process -F leaf -- sh -c "$patched 1 0 1 0; true"
like shell.err 'give the program itself' "a program that only a shell knows is refused" || diag shell.err
# One call in several: what is recorded, what is lost and what was left out is what the program made.
# all_calls NAME FUNCTION: those left out, too
all_calls() { "$ISPOT" report --json -i "$1.data" | jq --arg f "$2" '[.blocks[] | select(.name == $f and .kind == "function") | .estimated_calls] | add // 0'; }
made() { awk -v f="$2" '$1 == "calls" && $2 == f { n += $3 } END { print n + 0 }' "$1.out"; }
record sampled "${engine[@]}" -c 7 -- "$patched" 3 8 401 100
is "$status" 0 "-c 7: status" || diag sampled.err
for function in leaf deep in_handler; do
	is "$(all_calls sampled $function)" "$(made sampled $function)" "-c 7: each call of $function is recorded or counted"
done
within "$(calls sampled leaf)" "$(($(made sampled leaf) / 7))+-27"
ok $? "-c 7: one call in 7 of each thread is recorded"
is "$(trace_of sampled untimed_calls)" 0 "-c 7: each of them has its end"
is "$("$ISPOT" dump --meta -i sampled.data | grep -c '"kind":"session".*"period":7')" 1 "-c 7: the file's header has it" ||
	diag <("$ISPOT" dump --meta -i sampled.data | head -3)
record rarely "${engine[@]}" -c 1000000 -- "$patched" 1 0 2003 0
is "$(calls rarely leaf)/$(all_calls rarely leaf)" "0/$(made rarely leaf)" "-c 1000000: calls are counted though none was recorded" || diag rarely.err
record slow "${engine[@]}" --keep-slower 1s -- "$patched" 1 0 2003 0
is "$(calls slow leaf)" "$(awk '/ leaf/ { print $3 }' slow.out)" "--keep-slower: sums have each call" || diag slow.err
# Of 10 million entries and exits few are written, and more are lost; but most are read and added up.
lost_few() {
	local lost
	record kept "${engine[@]}" -m "$1" --keep-slower 1s -- "$patched" 1 0 400003 0
	lost=$(trace_of kept lost_records)
	((lost > $(trace_of kept records) && lost < 4000000))
}
if lost_few 256K || lost_few 1M || lost_few 64K || lost_few 512K; then
	is "$("$ISPOT" report --json -i kept.data | jq '.self_cost | .overhead > 0 and .probes_cost_ns > 0')" true \
		"--keep-slower: what recording costs is known where most calls are added up" || diag kept.err
	is "$("$ISPOT" report --json --time 1us- -i kept.data | jq '[.notices[] | select(test("were dropped; trace fewer"))] | length')" 0 \
		"--keep-slower: nor does a report of a part of it say that most were dropped" || diag kept.err
else
	skip "--keep-slower: what recording costs is known where most calls are added up" "too many or too few were lost"
	skip "--keep-slower: nor does a report of a part of it say that most were dropped" "too many or too few were lost"
fi

# ---- the program is not harmed ----

cat >thrower.cc <<'EOF'
#include <cstdio>
#include <stdexcept>
struct counted { int *p; ~counted() { ++*p; } };
#define FUNCTION __attribute__((noinline, noclone, used, aligned(64)))
FUNCTION int thrower(int n) { volatile int s = n; if (n % 3 == 0) throw std::runtime_error("x"); return s; }
FUNCTION int middle(int n, int *d) { volatile long room[4] = {n}; counted c{d}; return thrower(n) + (int)room[0]; }
FUNCTION int outer(int n, int *d) { volatile long room[4] = {n}; try { return middle(n, d) + (int)room[0]; } catch (std::exception &) { return -1; } }
int main() { int d = 0; long s = 0; for (int i = 0; i < 3001; i++) s += outer(i, &d); printf("%ld %d\n", s, d); }
EOF
if g++ -O2 -o thrower thrower.cc 2>compile.err; then
	record thrown --engine in-process -F '*thrower*' -F '*middle*' -F '*outer*' ./thrower
	is "$(cat thrown.out)" "$(./thrower)" "C++ exceptions pass through patched functions" || diag thrown.err
	is "$(trace_of thrown lost_records)" 0 "C++ exceptions: nothing is lost"
	is "$(calls thrown 'thrower(int)')" 3001 "C++ exceptions: calls that they leave are counted" || diag thrown.err
else
	skip "C++ exceptions" "no C++ compiler"
fi
sum=$(sha256sum "$patched")
record libc --engine in-process -F 'libc.so.6:*' -- ls -l /usr/bin
is "$(cat libc.out)" "$(ls -l /usr/bin)" "every function of libc: the output is what it is without ispot" || diag libc.err
is "$(sha256sum "$patched")" "$sum" "the file is what it was"
is "$(sed -n 's/.*calls of \([0-9]*\) functions.*/\1/p' libc.err)" \
	"$("$ISPOT" check --json -F 'libc.so.6:*' ls | jq '[.functions[] | select(.in_process)] | length')" \
	"every function that check says can be traced in process is" || diag libc.err

# ---- who may, and what is refused ----

if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	chmod 755 "$DIR" && mkdir -m 777 theirs && cp "$patched" theirs/ && cp "$ISPOT" theirs/ispot
	setpriv --reuid 65534 --regid 65534 --clear-groups env TMPDIR="$DIR/theirs" theirs/ispot record \
		--engine in-process -o theirs/user.data -F leaf theirs/patched 1 0 101 0 >user.out 2>user.err
	is "$?" 0 "an ordinary user" || diag user.err
	cp theirs/user.data user.data
	is "$(calls user leaf)" "$(awk '/ leaf/ { print $3 }' user.out)" "an ordinary user: each call"
	rm -f theirs/user.data
	setpriv --reuid 65534 --regid 65534 --clear-groups env TMPDIR="$DIR/theirs" theirs/ispot record \
		-o theirs/user.data theirs/patched 1 0 101 0 >user.out 2>user.err
	is "$?" 0 "an ordinary user who names no engine and no function" || diag user.err
	cp theirs/user.data user.data
	is "$(trace_of user producer)/$(calls user deep)" "in-process/$(awk '/ deep/ { print $3 }' user.out)" \
		"is recorded in process, each call"
	like <("$ISPOT" dump --meta -i user.data) 'sudo ispot record adds' "and the file says what root would add"
	setpriv --reuid 65534 --regid 65534 --clear-groups env TMPDIR="$DIR/theirs" theirs/ispot check --json -F deep theirs/patched \
		>user.json 2>user.err
	is "$(jq -r '.functions[0] | "\(.engine) \(.cost_ns > 0)"' user.json)" "in-process true" \
		"ispot check shows an ordinary user what record would do" || diag user.err
	setpriv --reuid 65534 --regid 65534 --clear-groups env TMPDIR="$DIR/theirs" theirs/ispot record \
		-o theirs/slept.data sleep 0.2 >user.out 2>user.err
	is "$?" 0 "a program that sleeps" || diag user.err
	"$ISPOT" dump -i theirs/slept.data >slept.dump 2>&1
	if [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 2 ] && ! grep -q 'blocked is unknown' slept.dump; then
		is "$(awk '$4 == "entry" || $4 == "exit" { print $4, $5 } $4 ~ /^switch/ { print $4 }' slept.dump |
			sed -n '/^entry .*nanosleep/,/^exit .*nanosleep/p' | sort -u | grep -c '^switch-\(in\|out\)')" 2 \
			"when own threads were blocked is known without root" || diag slept.dump
		is "$(awk '$4 == "task-exit"' slept.dump | wc -l)" 1 "and when they ended"
	else
		skip "when own threads were blocked is known without root" "users may not use perf events"
		skip "and when they ended" "users may not use perf events"
	fi
	setpriv --reuid 65534 --regid 65534 --clear-groups env TMPDIR="$DIR/theirs" theirs/ispot record \
		-e cycles -o theirs/user.data theirs/patched 1 0 101 0 >user.out 2>user.err
	is "$?" 125 "what takes root is refused by its name" || diag user.err
	like user.err '^ispot: record: -e takes root' "(-e)" || diag user.err
	# What is injected trusts the process, which must not gain by it.
	setpriv --reuid 65534 --regid 65534 --clear-groups sleep 60 &
	foreign=$!
	children+=("$foreign")
	eventually grep -q '^Uid:.65534' "/proc/$foreign/status"
	"$ISPOT" record --engine in-process -o foreign.data -F 'libc.so.6:read' -p "$foreign" -d 1 >foreign.out 2>&1
	like foreign.out 'does not have all the rights that ispot has' "root records no process of another user" || diag foreign.out
	setpriv --bounding-set -sys_admin --inh-caps -sys_admin sleep 60 &
	weaker=$!
	children+=("$weaker")
	eventually grep -q '^sleep' "/proc/$weaker/comm"
	"$ISPOT" record --engine in-process -o foreign.data -F 'libc.so.6:read' -p "$weaker" -d 1 >foreign.out 2>&1
	like foreign.out 'does not have all the rights that ispot has' "nor one without its capabilities" || diag foreign.out
	record foreign --engine in-process -F leaf setpriv --reuid 65534 --regid 65534 --clear-groups theirs/patched 1 0 1 0
	like foreign.err 'does not have all the rights that ispot has' "nor a command that becomes another user's" || diag foreign.err
	kill "$foreign" "$weaker"
	# One that gives its rights away when the recorder has looked at it and opens its program: it counts if it was quick.
	cat >drops.py <<-'EOP'
	import ctypes, os, time
	libc = ctypes.CDLL(None)
	watch = libc.inotify_init()
	assert libc.inotify_add_watch(watch, os.readlink("/proc/self/exe").encode(), 0x20) > 0
	print("ready", flush=True)
	os.read(watch, 4096)
	os.setresgid(65534, 65534, 65534)
	os.setresuid(65534, 65534, 65534)
	print(next(l for l in open("/proc/self/status") if l.startswith("TracerPid:")), flush=True)
	time.sleep(60)
	EOP
	drops() { # drops: the recorder was too late to take it
		: >drops.out
		python3 drops.py >drops.out 2>&1 &
		dropping=$!
		children+=("$dropping")
		eventually grep -q ready drops.out || return
		"$ISPOT" record --engine in-process -o drops.data -F 'libc.so.6:*' -p "$dropping" -d 0.1 >drops.err 2>&1
		eventually grep -q TracerPid drops.out
		kill "$dropping"
		grep -q '^TracerPid:.0$' drops.out
	}
	if command -v python3 >/dev/null; then
		for _ in 1 2 3 4 5; do
			if drops; then break; fi
		done
		if grep -q '^TracerPid:.0$' drops.out; then
			like drops.err 'does not have all the rights that ispot has' "nor one that gives them away meanwhile" || diag drops.err
		else
			skip "nor one that gives them away meanwhile" "it was too slow five times"
		fi
	else
		skip "nor one that gives them away meanwhile" "no python3"
	fi
fi
for options in "-e cycles" "-g fp" "-D 1s" "--burst 10ms/1s" "--no-inherit" "--overhead 5" "--user 0"; do
	# shellcheck disable=SC2086 # an option and its value
	record refused --engine in-process $options -F leaf "$patched" 1 0 1 0
	like refused.err "in-process does not go with ${options%% *}" "refused: $options" || diag refused.err
done
record refused --engine other -F leaf "$patched" 1 0 1 0
is "$status" 2 "no such engine" || diag refused.err
record refused --engine in-process -F _start "$patched" 1 0 1 0
like refused.err '_start is entered without a return address' "what cannot be patched is named with the reason" || diag refused.err
if command -v python3 >/dev/null; then
	: >sealed.out
	python3 -c 'import ctypes, time
libc = ctypes.CDLL(None)
assert libc.prctl(38, 1, 0, 0, 0) == 0
class Filter(ctypes.Structure): _fields_ = [("n", ctypes.c_ushort), ("p", ctypes.c_void_p)]
allow = (ctypes.c_ubyte * 8)(6, 0, 0, 0, 0, 0, 0xff, 0x7f)
assert libc.prctl(22, 2, ctypes.byref(Filter(1, ctypes.cast(allow, ctypes.c_void_p)))) == 0
print("ready", flush=True); time.sleep(60)' >sealed.out 2>sealed.err &
	sealed=$!
	children+=("$sealed")
	if eventually grep -q ready sealed.out; then
		"$ISPOT" record --engine in-process -o sealed.data -F 'libc.so.6:read' -p "$sealed" -d 1 >sealed.out 2>&1
		like sealed.out 'runs under seccomp' "seccomp: refused" || diag sealed.out
		kill -0 "$sealed"
		ok $? "seccomp: the program lives"
	else
		skip "seccomp" "no filter can be set here"
	fi
	kill "$sealed"
fi

# ---- without -F ----

cat >chosen.c <<'EOF'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#define FUNCTION __attribute__((noinline, noclone, used, aligned(64)))
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile long sum;
FUNCTION long brief(long x) { volatile long s = x; return s + 1; }
FUNCTION long often(long x) { volatile long s = x; return s + brief(x); }
FUNCTION long round_of(long n) { long s = 0; for (long i = 0; i < n; i++) s += often(i); return s; }
FUNCTION void locked(long n) { volatile long s = n; pthread_mutex_lock(&mutex); sum += s; pthread_mutex_unlock(&mutex); }
int main(int argc, char **argv)
{
	long rounds = atol(argv[1]), n = atol(argv[2]);
	for (long i = 0; i < rounds; i++) { sum += round_of(n); locked(i); }
	printf("calls often %ld\ncalls round_of %ld\ncalls pthread_mutex_lock %ld\n", rounds * n, rounds, rounds);
	return argc - 3;
}
EOF
# calls_of_key NAME FUNCTION KEY
calls_of_key() {
	jq --arg f "$2" --arg k "$3" '[.blocks[] | select(.name == $f and .key == $k) | .calls] | add // 0' "$1.json"
}
# taken_in NAME: where the lock is taken
taken_in() { "$ISPOT" report --by lock --json -i "$1.data" | jq -r '.blocks[] | select(.name == "mutex") | .key' | sed 's/+.*//'; }
if cc -O2 -o chosen chosen.c -pthread 2>compile.err; then
	record chosen --engine in-process -- ./chosen 211 7
	is "$status/$(calls chosen often)/$(calls chosen round_of)" 0/1477/211 "without -F: functions of the program" || diag chosen.err
	like chosen.err '^ispot: .* calls of .* in [0-9.]+ s, none dropped' "without -F: how long"
	like chosen.err '(overhead|probes took) ' "without -F: at what cost"
	[ "$(calls chosen pthread_mutex_lock)" -ge 211 ] # its libraries lock, too
	ok $? "without -F: and those that wait"
	report chosen
	[ "$(calls chosen pthread_mutex_unlock)" -ge 211 ]
	ok $? "without -F: and the release of locks, though it is brief"
	is "$(calls_of_key chosen pthread_mutex_lock mutex)" 211 "without -F: a lock has the name of its variable" || diag chosen.err
	is "$(taken_in chosen)" locked "without -F: and the place where it is taken" || diag chosen.err
	is "$(calls chosen main)/$(calls chosen brief)" 0/0 "without -F: neither main nor what is too brief"
	record locks --engine auto -F 'pthread_mutex_lock@arg1' -- ./chosen 211 7
	report locks
	is "$(calls_of_key locks pthread_mutex_lock mutex)" 211 "beside kernel probes: a lock has the name of its variable" || diag locks.err
	is "$(taken_in locks)" locked "beside kernel probes: and the place where it is taken" || diag locks.err
	record full --engine in-process -m 4K -F 'often@arg1' -- ./chosen 3007 3000
	like full.err 'the ring had no room for arguments or returned values [0-9,.k]+ times' "arguments that find a ring full are a loss, which is said" ||
		diag full.err
	like <("$ISPOT" report -i full.data) 'the ring had no room for arguments' "and the report says so"
	record chosen --engine in-process -F '!often' -- ./chosen 211 7
	is "$(calls chosen often)/$(calls chosen round_of)" 0/211 "without -F: not what it excludes" || diag chosen.err
	given_up() {
		record hot --engine in-process --overhead 0.1 -- ./chosen 307 "$1"
		"$ISPOT" report --json -i hot.data |
			jq -e '[.not_traced[] | select(.traced_until_ns) | .name] == ["often"]' >/dev/null
	}
	given_up 300000 || given_up 1000000 || given_up 3000000
	ok $? "without -F: what is called too often for --overhead is taken out, and nothing else" || diag hot.err
	is "$(sed -n 2p hot.out)" "calls round_of 307" "and the program goes on"
	like <("$ISPOT" report -v -i hot.data) '^Partly traced +often until' "the screen says so" || diag hot.err
	# What -F names is recorded at any cost, which is said, with how to record it for less.
	record dear --engine in-process -F often -- ./chosen 307 30000
	like dear.err 'recording slowed the program (to a fraction of its speed|by [0-9]+%)' "-F: what costs much is said" || diag dear.err
	like dear.err 'record one call in several \(-c 100\), or fewer functions' "and how to record it for less" || diag dear.err
	# A thread keeps the budget of a tenth by itself, before anybody has read its calls. What is called 9 million times
	# would cost more than the program.
	record soon --engine in-process -- ./chosen 307 30000
	"$ISPOT" report --json -i soon.data >soon.json
	is "$status/$(sed -n 1p soon.out)/$(jq '.self_cost.overhead < 0.2' soon.json)" "0/calls often 9210000/true" "a short program: the budget holds from the start" ||
		diag "$(jq -c .self_cost soon.json)"
	[ "$(calls soon often)" -ge 1024 ]
	ok $? "a short program: some calls of each function are recorded" || diag soon.err
else
	skip "without -F" "no C compiler"
fi

# 27 threads of 9 processes, each 40,001 rounds; what is called most is taken out meanwhile.
record taken --engine in-process --overhead 0.01 -- "$patched" 3 8 40001 100
is "$status/$(made taken leaf)/$(made taken deep)" 0/10800108/2700027 "functions are taken out under threads, forks and signals: the program makes each call" ||
	diag taken.err

# A ring of 4K has room for 128 calls. A thread that finds it full for 1,024 calls of a function passes further ones, so that
# it loses 2,048 records of each such function, of a million calls. What is called less stays.
record flooded --engine in-process --overhead 50 -m 4K -- "$patched" 1 0 400003 0
is "$status/$(made flooded deep)" 0/1000006 "called too often for the ring: the program makes each call" || diag flooded.err
"$ISPOT" report --json -i flooded.data >flooded.json
out=$(jq -r '.not_traced[] | select(.reason | test("too often|once traced")) | .name' flooded.json)
flooded=$(jq .trace.lost_records flooded.json)
[ "$flooded" -gt 0 ] && [ "$flooded" -le $((2048 * 4)) ]
ok $? "called too often for the ring: few records are lost" || diag flooded.err
like <(echo "$out") '^deep$' "called too often for the ring: the function is taken out"
unlike <(echo "$out") '^(main|usleep|nanosleep)$' "and others are not"

# ---- attach and detach ----

# at FUNCTION PID: where it is in memory; code PID [FUNCTION]: what is there
at() {
	local base
	base=$(awk -v f="$patched" '$6 == f { split($1, a, "-"); print a[1]; exit }' "/proc/$2/maps")
	echo $((16#$base + 16#$(nm "$patched" | awk -v f="$1" '$3 == f { print $1 }')))
}
code() { dd if="/proc/$1/mem" bs=1 count=32 skip="$(at "${2-leaf}" "$1")" 2>/dev/null | od -An -tx1 | tr -d ' \n'; }
# poke PID ADDRESS BYTE: in hexadecimal digits
poke() { printf '%b' "\\x$3" | dd of="/proc/$1/mem" bs=1 count=1 seek="$2" conv=notrunc 2>/dev/null; }
"$patched" wait 3 >running.out &
running=$!
children+=("$running")
started "$running" patched
before=$(code "$running")
for round in 1 2 3; do
	"$ISPOT" record --engine in-process -o attached.data -F leaf -p "$running" -d 0.3 >attached.out 2>&1 || break
done
is "$round/$?" 3/0 "three times attached to and detached from" || diag attached.out
# On a busy machine its threads hardly run in that time.
enough() { [ "$("$ISPOT" report --json -i attached.data | jq '.trace.calls > 100 and (.trace.threads >= 3)')" = true ]; }
for _ in 1 2 3 4 5; do
	"$ISPOT" record -v --engine in-process -o attached.data -F leaf -p "$running" -d 0.3 >attached.out 2>&1
	enough && break
done
like attached.out 'stood for [0-9.]* ms, with the code made before' "the code is made before its threads stand" || diag attached.out
is "$(code "$running")" "$before" "the code is what it was"
is "${#before}" 64 "(32 bytes of it)"
enough
ok $? "calls of its threads are recorded" || diag attached.out
outlives_recorders "$running" 0.1 0.2 0.3 0.4 0.6 0.9
ok $? "a recorder that is killed at any moment leaves the program running"
"$ISPOT" record --engine in-process -o after.data -F leaf -p "$running" -d 0.3 >after.out 2>&1
is "$?" 0 "the next recording takes out what they have left" || diag after.out
is "$(code "$running")" "$before" "and leaves the code as it was"

# ---- what comes later ----

cat >later.c <<'EOF'
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv) { if (argc > 1) execlp("sleep", "nap", argv[1], (char *)NULL); return 1; }
EOF
if cc -O1 -o later later.c 2>compile.err; then
	# Until a busy machine's recorder has looked while it sleeps.
	for seconds in 1 5 30; do
		record later --engine in-process -F main -- ./later "$seconds"
		grep -q 'has executed' later.err && break
	done
	is "$status" 0 "a program that executes another one" || diag later.err
	like later.err 'has executed another program \((nap|sleep)\), whose calls are not timed in process' "is said" || diag later.err
	like later.err 'record that program itself, or with --engine kernel' "with what to do"
	is "$("$ISPOT" report --json -i later.data | jq '[.notices[] | select(test("executed another program"))] | length')" 1 "and is in the file"
	record later --engine in-process -F main -F 'libnotyet.so:*' -- ./later 0
	like later.err 'no object libnotyet.so is mapped yet, and what is loaded later is not timed in process' "a library that is not loaded yet" || diag later.err
else
	skip "a program that executes another one" "no C compiler"
fi

# ---- beside others ----

# Another tool's breakpoint on a jump, in a function that nobody calls: what takes it out writes the file's byte.
before=$(code "$running" last)
"$ISPOT" record --engine in-process -o beside.data -F last -p "$running" -d 60 >beside.out 2>&1 &
recorder=$!
is_patched() { [ "$(code "$running" last)" != "$before" ]; }
made_way() { [ "$(code "$running" last)" = "${before:0:2 * k}cc${before:2 * k + 2}" ]; }
eventually is_patched
now=$(code "$running" last) k=0
while [ "${now:2 * k:2}" = "${before:2 * k:2}" ] && [ $k -lt 31 ]; do k=$((k + 1)); done
is "${now:2 * k:2}" e9 "a jump stands in a function" || echo "# $before, now $now"
poke "$running" $(($(at last "$running") + k)) cc
eventually made_way
ok $? "behind another tool's breakpoint the jump makes way" || echo "# $before, now $(code "$running" last)"
"$ISPOT" record -o refused.data -F leaf -p "$running" -d 0.1 >refused.out 2>&1
if [ "$(id -u)" = 0 ]; then
	like refused.out 'is patched by ispot record --engine in-process' "the kernel's probes are refused meanwhile" || diag refused.out
else
	skip "the kernel's probes are refused meanwhile" "not root"
fi
kill -INT $recorder
wait $recorder
is "$?/$(code "$running" last)" "0/${before:0:2 * k}cc${before:2 * k + 2}" "the breakpoint is left" || diag beside.out
poke "$running" $(($(at last "$running") + k)) "${before:2 * k:2}"
is "$(code "$running" last)" "$before" "and taken out as that tool does leaves the code as it was"

kill "$running"
wait "$running"
is "$?/$(grep -c '^calls leaf' running.out)" 0/1 "the program ends as it would have"

# ---- programs that lock their memory ----

# locked_kib FILE: that such a program says is locked
locked_kib() { awk '/^VmLck/ { print $2 }' "$1"; }
"$HELPERS/locked" 3 1 >alone.out
if [ $? = 7 ]; then
	for flags in 1 2 3; do # what is there; what comes; both
		"$HELPERS/locked" $flags >running.out &
		running=$!
		children+=("$running")
		eventually grep -q ready running.out
		"$ISPOT" record --engine in-process -o locked.data -F step -p "$running" -d 0.2 >locked.out 2>&1
		recorded=$?
		kill "$running"
		wait "$running"
		is "$?/$(grep -c '^steps' running.out)" 7/1 "mlockall($flags): the program ends as it would have"
		[ "$(locked_kib running.out)" -lt 102400 ]
		ok $? "mlockall($flags): no room for records is locked" || diag running.out
		if [ $flags = 1 ]; then
			is $recorded 0 "mlockall($flags): it is recorded" || diag locked.out
		else
			is $recorded 125 "mlockall($flags): it is refused" || diag locked.out
			like locked.out 'keeps all that it maps in memory' "mlockall($flags): and that is said"
		fi
	done
	if [ "$(id -u)" = 0 ] || [ "$(ulimit -l)" = unlimited ]; then
		record locked --engine in-process -F step -- "$HELPERS/locked" 3 101
		is "$status/$(calls locked step)" 7/101 "a command that locks its memory is recorded" || diag locked.err
		[ "$(locked_kib locked.out)" -lt 524288 ]
		ok $? "with little room for records" || diag locked.out
		like locked.err 'rings of 16K' "which is said"
	else
		skip "a command that locks its memory is recorded" "this user has a limit"
	fi
else
	skip "programs that lock their memory" "this user may not lock any"
fi
# The room for records counts for the limit that an ordinary user has. A program whose files exceed it cannot lock its
# memory anyway.
limited() { # KIB: the limit
	(ulimit -S -l "$1" && exec setpriv --reuid 65534 --regid 65534 --clear-groups env TMPDIR="$DIR/theirs" theirs/ispot \
		record --engine in-process -o theirs/locked.data -F step theirs/locked 0 1) >limited.out 2>limited.err
}
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	cp "$HELPERS/locked" theirs/
	limited 64
	is $? 7 "a command that could lock more than its user's limit: it is recorded" || diag limited.err
	limited 7168
	is "$?/$(cat limited.out)" 125/ "a command that locks its memory, of a user with a limit: it is refused" || diag limited.err
	like limited.err 'locked can lock its memory .*; set ulimit -l unlimited' "and the way out is said" || diag limited.err
else
	skip "a command that could lock more than its user's limit: it is recorded" "needs root and setpriv"
	skip "a command that locks its memory, of a user with a limit: it is refused" "needs root and setpriv"
	skip "and the way out is said" "needs root and setpriv"
fi

# A process that shares the program's descriptors puts another file at the number of the memory that is to be shared.
echo "what the file has" >victim
"$HELPERS/swapped" victim >running.out &
running=$!
children+=("$running")
eventually grep -q ready running.out
for _ in $(seq 100); do
	"$ISPOT" record --engine in-process -o swapped.data -F step -p "$running" -d 0.02 >swapped.out 2>&1 || break
done
kill "$running"
wait "$running"
is "$?/$(cat victim)" "7/what the file has" "another file at that number stays as it is, and the program ends as it would have" || diag swapped.out
if grep -q '^exchanged [1-9]' running.out; then
	pass "it was put there"
else
	skip "it was put there" "never in time"
fi

# What shares the program's memory runs on when its threads stand.
"$patched" vfork 1500 &
forking=$!
children+=("$forking")
started "$forking" patched
"$ISPOT" record --engine in-process -o vfork.data -F leaf -p "$forking" -d 0.3 >vfork.out 2>&1
is "$?" 0 "vfork(): the program is patched once it goes on" || diag vfork.out
wait "$forking"
is "$?" 0 "vfork(): the program is not harmed"
"$patched" beside 60000 &
beside=$!
children+=("$beside")
started "$beside" patched
"$ISPOT" record --engine in-process -o clone.data -F leaf -p "$beside" -d 0.3 >clone.out 2>&1
like clone.out 'shares its memory with process' "a process that shares its memory is not patched" || diag clone.out
kill "$beside"

# Room for the way from the entry point is behind the program's code, or else behind another object's.
if command -v gcc >/dev/null && command -v readelf >/dev/null; then
	cat >filled.c <<-'END'
		#define WORDS(n) #n
		#define SKIP(n) ".text\n .skip " WORDS(n)
		__asm__(SKIP(FILL));
		__attribute__((noinline)) void leaf(void) { __asm__ volatile(".skip 20, 0x90"); }
		int main(void) { for (int i = 0; i < 101; i++) leaf(); return 7; }
	END
	left() { # bytes
		local at size
		read -r at size < <(readelf -lW filled | awk '$1 == "LOAD" && / R E / { print $3, $5 }')
		echo $((4096 - (at + size) % 4096))
	}
	gcc -O2 -DFILL=16 -o filled filled.c && gcc -O2 -DFILL=$((16 + $(left) + 4096 - 48)) -o filled filled.c
	[ "$(left)" -lt 80 ]
	ok $? "a program whose last page of code is full"
	record filled --engine in-process -F leaf -- ./filled
	is "$status/$(calls filled leaf)" 7/101 "it is recorded" || diag filled.err
else
	skip "a program whose last page of code is full" "no gcc or readelf here"
	skip "it is recorded" "no gcc or readelf here"
fi

echo '__attribute__((noinline, noclone, used, aligned(64))) long brief(long x) { volatile long s = x; return s + 1; }
int main(void) { for (long i = 0; i < 101; i++) brief(i); return 7; }' | cc -O2 -o only_brief -x c -
record only_brief --engine in-process -- ./only_brief
is "$status/$(calls only_brief brief)" 7/101 "a program with brief functions alone has these" || diag only_brief.err

if command -v strip >/dev/null; then
	strip -o nameless "$patched"
	record nameless --engine in-process -- ./nameless 1 0 1 0
	like nameless.err 'nameless has no symbols' "a program without symbols is said to have none"
else
	skip "a program without symbols is said to have none" "no strip here"
fi

done_testing
