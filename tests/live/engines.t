#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Kernel probes and patched code in one recording: each call is counted once, calls nest over both, the program
# is as it was afterwards, and what the one cannot do the other does.
. "$(dirname "$0")/lib.sh"
needs_probes

[ "$(uname -m)" = x86_64 ] || skip_all "x86-64 only"
needs_command jq awk
cat >both.c <<'EOF'
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#define FUNCTION __attribute__((noinline, noclone, used, aligned(64)))
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long rounds, often_of_each, pace;
FUNCTION long often(long x) { volatile long s = x; return s + 1; }
FUNCTION long paced(long x) { volatile long s = x; for (long i = 0; i < pace; i++) s++; return s + 1; }
/* A loop leads to its second instruction, where the first one leaves no room for a jump. */
long jumps(long x);
__asm__(".p2align 6\n.globl jumps\n.type jumps, @function\njumps: push %rbp\n1: dec %rdi\ntest %rdi, %rdi\njg 1b\npop %rbp\nxor %eax, %eax\nret\n.size jumps, . - jumps\n.p2align 6\n");
FUNCTION long locked(long x) { volatile long s = x; pthread_mutex_lock(&mutex); s += often(s); pthread_mutex_unlock(&mutex); return s; }
FUNCTION long round_of(long n) { long s = 0; for (long i = 1; i < often_of_each; i++) s += pace ? paced(i) : often(i); s += locked(n); return s + jumps(n & 7); }
static void *work(void *unused) { volatile long s = 0; for (long i = 0; i < rounds; i++) s += round_of(i); return unused; }
int main(int argc, char **argv)
{
	long n = atol(argv[1]);
	pthread_t threads[8];
	if (getenv("GATE")) while (access(getenv("GATE"), F_OK)) usleep(10000);
	if (getenv("PACE")) pace = atol(getenv("PACE"));
	if (getenv("ALSO")) dlopen(getenv("ALSO"), RTLD_NOW);
	rounds = atol(argv[2]), often_of_each = atol(argv[3]);
	for (long child = 0; child < (argc > 4 ? atol(argv[4]) : 0); child++) if (!fork()) { if (getenv("ALSO_IN_CHILD")) dlopen(getenv("ALSO_IN_CHILD"), RTLD_NOW); work(NULL); _exit(0); }
	for (long i = 0; i < n; i++) pthread_create(&threads[i], NULL, work, NULL);
	for (long i = 0; i < n; i++) pthread_join(threads[i], NULL);
	while (wait(NULL) > 0) ;
	printf("done\n");
	return 3;
}
EOF
cc -O2 -o both both.c -pthread -ldl 2>compile.err || skip_all "no C compiler"
calls() { "$ISPOT" report --json -i "$1.data" | jq --arg f "$2" '[.blocks[] | select(.name == $f and .kind == "function") | .estimated_calls // .calls] | add // 0'; }
engine() { "$ISPOT" report --json -i "$1.data" | jq -r --arg f "$2" '[.blocks[] | select(.name == $f and .kind == "function") | .probe.engine] | unique | join(" ")'; }
trace_of() { "$ISPOT" report --json -i "$1.data" | jq -r ".trace.$2"; }
chosen=(-F often -F jumps -F locked -F round_of -F pthread_mutex_lock)

record probe --engine in-process -F often -- ./both 1 1 1
grep -q 'stamps by the TSC' probe.err && skip_all "no stable TSC here: $(cat probe.err)"

# ---- one file ----

record one --engine auto "${chosen[@]}" -- ./both 3 211 7 2
is "$status/$(cat one.out)" 3/done "the program does what it does, with its exit status" || diag one.err
is "$(engine one often)/$(engine one locked)/$(engine one round_of)" in-process/in-process/in-process "patched functions" || diag one.err
is "$(engine one jumps)" kernel "what cannot be patched gets kernel probes" || diag one.err
is "$(engine one pthread_mutex_lock)" in-process "and what takes locks" || diag one.err
is "$(trace_of one producer)" "bpf in-process" "trace.producer"
# A command has both engines unless an engine is named. Where they cannot be, nothing is to be said, as nobody
# asked for them.
"$ISPOT" record -o default.data "${chosen[@]}" -- ./both 3 211 7 2 >default.out 2>default.err
is "$?/$(cat default.out)" 3/done "no engine named: status" || diag default.err
is "$(engine default often)/$(engine default jumps)/$(engine default pthread_mutex_lock)" in-process/kernel/in-process "no engine named: both" || diag default.err
if [ "$(trace_of default lost_records)" = 0 ]; then
	is "$(calls default often)" 7385 "no engine named: each call"
else
	skip "no engine named: each call" "records were lost"
fi
"$ISPOT" record -o default.data ./both 1 101 3 >default.out 2>default.err
is "$?/$(engine default locked)" 3/in-process "nor functions: patched from the start" || diag default.err
"$ISPOT" record -o default.data -g fp -F often ./both 1 101 3 >default.out 2>default.err
is "$?/$(engine default often)/$(grep -c 'kernel probes' default.err)" 3/kernel/0 "with an option that takes kernel probes" || diag default.err
"$ISPOT" record -v -o default.data -g fp -F often ./both 1 101 3 >default.out 2>default.err
like default.err 'all calls are timed by kernel probes: with -g' "-v says why" || diag default.err
if [ "$(trace_of one lost_records)" = 0 ]; then
	is "$(calls one often)/$(calls one round_of)/$(calls one jumps)" 7385/1055/1055 "each call of threads and forks is counted, by either engine" || diag one.err
	is "$(trace_of one untimed_calls)" 0 "and has its end"
	is "$("$ISPOT" dump -i one.data | awk '$4 == "entry" || $4 == "exit"' | wc -l)" "$(trace_of one records)" "trace.records counts those of both"
else
	skip "each call of threads and forks is counted, by either engine" "records were lost"
	skip "and has its end" "records were lost"
	skip "trace.records counts those of both" "records were lost"
fi
is "$("$ISPOT" report --json -i one.data | jq -r '[.blocks[] | select(.name == "round_of" or .name == "jumps") | .floor | type] | unique | join(" ")')" number "floors of both" || diag one.err
# Rings of 4K are too small for this: what is lost is counted, and once.
record losing --engine auto -m 4K -F often -F locked -- ./both 2 40 100000
is "$(($(trace_of losing records) + $(trace_of losing lost_records)))" 16000160 "what is recorded and what is lost is what was made" || diag losing.err
# Of most calls nothing is left: what they cost is not known, and no figure stands for it.
if [ "$(trace_of losing lost_records)" -gt "$(trace_of losing records)" ]; then
	is "$("$ISPOT" report --json -i losing.data | jq .self_cost.overhead)" null "most were lost: the overhead is not known" || diag losing.err
	like losing.err 'overhead n/a: most were dropped' "which is said"
else
	skip "most were lost: the overhead is not known" "most were read"
	skip "which is said" "most were read"
fi
echo '#include <sys/mman.h>
void lock_none(void); void lock_none(void) { mlockall(0); }' | cc -O2 -o locks both.c -x c - -pthread -ldl
record locks --engine auto -F often -- ./locks 1 101 3
like locks.err 'rings of 16K' "small rings are said" || diag locks.err
is "$("$ISPOT" report --json -i locks.data | jq '[.notices[] | select(test("rings of 16K"))] | length')" 1 "and are in the file" || diag locks.err
# Who asked for no engine is told only if it matters.
"$ISPOT" record -o unasked.data -F often -- ./locks 1 11 3 >unasked.out 2>unasked.err
if [ "$(trace_of unasked lost_records)" = 0 ]; then
	unlike unasked.err 'rings of 16K' "nobody asked and nothing is lost: small rings are not said" || diag unasked.err
else
	skip "nobody asked and nothing is lost: small rings are not said" "records were dropped"
fi
"$ISPOT" record -o overflowing.data -F often -- ./locks 2 40 100000 >overflowing.out 2>overflowing.err
if [ "$(trace_of overflowing lost_records)" -gt 0 ]; then
	like overflowing.err 'rings of 16K' "they are if records were dropped" || diag overflowing.err
else
	skip "they are if records were dropped" "none was"
fi
record sampled --engine auto -c 5 "${chosen[@]}" -- ./both 2 503 7
is "$(calls sampled often)/$(calls sampled jumps)" 7042/1006 "-c 5: each call is recorded or counted" || diag sampled.err
# Calls by one engine are inside of calls by the other: what the lock takes is not its caller's own time.
record nested --engine auto -F locked_add -F pthread_mutex_lock -- "$MB/mutex"
is "$("$ISPOT" report --json -i nested.data | jq '[.blocks[] | select(.name == "locked_add" and .kind == "function")] |
	length > 0 and all(.self_sci != null and .self_sci < .sci)')" true \
	"calls nest over both engines" || diag nested.err

not() { ! "$@"; }
# A wrapper's child that executes the program is patched as a command is: none of its calls is late.
record wrapped --engine auto -F often -- timeout 60 ./both 1 101 3
is "$status/$(engine wrapped often)/$(calls wrapped often)" 3/in-process/303 "a wrapper's child is patched before its first call" || diag wrapped.err
unlike wrapped.err 'lack calls' "and no process is said to be late" || diag wrapped.err
if unshare -pf true 2>/dev/null; then # not in every container
	record numbers --engine auto -F often -- unshare -pf ./both 1 101 3
	is "$status/$(cat numbers.out)" 3/done "a program in another PID namespace does what it does" || diag numbers.err
	like numbers.err 'all calls are timed by kernel probes: .*has other process numbers' "and has kernel probes" || diag numbers.err
	rounds=$((1000000000 + $$)) # by which it is known
	left() { pgrep -xf "./both 1 $rounds 3" >left.out; }
	record refused --engine in-process -F often -- unshare -pf ./both 1 "$rounds" 3
	like refused.err 'has other process numbers' "in process it is refused" || diag refused.err
	eventually not left
	ok $? "and does not run on" || xargs kill <left.out
else
	skip "a program in another PID namespace does what it does" "unshare is not allowed here"
	skip "and has kernel probes" "unshare is not allowed here"
	skip "in process it is refused" "unshare is not allowed here"
	skip "and does not run on" "unshare is not allowed here"
fi

# A wrapper may wait for long before it starts the program, and may be stopped meanwhile.
if command -v flock >/dev/null; then
	# queue NAME ENGINE: $recorder records a command, whose wrapper $child waits until descriptor 8 is closed
	queue() {
		exec 8>lock
		flock 8
		"$ISPOT" record --engine "$2" -o "$1.data" -F often -- flock lock ./both 1 101 3 >"$1.out" 2>"$1.err" 8>&- &
		recorder=$!
		children+=("$recorder")
		eventually child "$recorder" flock
	}
	queue stopped in-process
	kill -STOP "$child"
	eventually grep -q '^State:.t' "/proc/$child/status"
	ok $? "a wrapper that is stopped stands"
	exec 8>&-
	sleep 0.3
	is "$(cat stopped.out)" "" "and does not go on" || diag stopped.err
	kill -CONT "$child"
	wait "$recorder"
	is "$?/$(cat stopped.out)/$(calls stopped often)" 3/done/303 "until it is continued" || diag stopped.err
	queue patient auto
	eventually grep -q 'all calls are timed by kernel probes: the command has not executed its program yet' patient.err
	ok $? "where a wrapper waits for too long, kernel probes time the program" || diag patient.err
	exec 8>&-
	wait "$recorder"
	is "$?/$(cat patient.out)" 3/done "and it does what it does" || diag patient.err
else
	skip "a wrapper that is stopped stands" "no flock"
	skip "and does not go on" "no flock"
	skip "until it is continued" "no flock"
	skip "where a wrapper waits for too long, kernel probes time the program" "no flock"
	skip "and it does what it does" "no flock"
fi

# ---- what executes a program later ----

# A child executes the same file, and makes its calls once it is patched, or none comes.
cat >executes.c <<'EOF'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline, noclone, used, aligned(64))) long often(long x) { volatile long s = x; return s + 1; }
static int is_patched(void)
{
	char line[4096];
	int is = 0;
	FILE *maps = fopen("/proc/self/maps", "r");
	while (!is && fgets(line, sizeof(line), maps)) is = strstr(line, "/memfd:ispot") != NULL;
	fclose(maps);
	return is;
}
int main(int argc, char **argv)
{
	int status = 1;
	if (argc > 2) for (int i = 0; i < atoi(argv[2]) && !is_patched(); i++) usleep(10000);
	usleep(argc > 2 ? 50000 : 0); /* the jumps come last */
	for (long i = 0; i < 101; i++) often(i);
	if (argc > 2) return 7;
	if (!fork()) { execl(*argv, *argv, argv[1], argv[1], (char *)NULL); _exit(1); }
	wait(&status);
	return WEXITSTATUS(status);
}
EOF
cc -O2 -o executes executes.c
record executes --engine auto -F often -- ./executes 1000
is "$status" 7 "a child that executes a program does what it does" || diag executes.err
is "$(calls executes often)" 202 "it is patched, too" || diag executes.err
like executes.err 'lack calls.* 1 of them those of the first [0-9.]*[mu]?s; record with --engine kernel' "and what may be missing is said" || diag executes.err
record executed --engine auto -F often -- ./executes 0
like executed.err 'lack calls.* 1 of them (those of the first|all, as)' "where it may have ended by then, too" || diag executed.err
is "$(trace_of executed producer)/$("$ISPOT" report --json -i executed.data | jq '[.notices[] | select(test("lack calls"))] | length')" \
	"bpf in-process/1" "and is in the file" || diag executed.err

# A child that is patched for one library loads another one afterwards, whose calls are missing, which is said.
echo '__attribute__((noinline, noclone, used, aligned(64))) long first(long x) { volatile long s = x; return s + 1; }' >first.c
echo '__attribute__((noinline, noclone, used, aligned(64))) long late(long x) { volatile long s = x; return s + 1; }' >late.c
cat >loads.c <<'EOF'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
long first(long x);
#ifdef LATE
long late(long x);
int main(void)
{
	int status = 1;
	first(late(1));
	if (!fork()) { execl("./loads", "./loads", (char *)NULL); _exit(1); }
	wait(&status);
	return WEXITSTATUS(status);
}
#else
int main(void)
{
	char line[4096];
	int is = 0;
	for (int i = 0; i < 1000 && !is; i++, usleep(10000)) {
		FILE *maps = fopen("/proc/self/maps", "r");
		while (!is && fgets(line, sizeof(line), maps)) is = strstr(line, "/memfd:ispot") != NULL;
		fclose(maps);
	}
	usleep(50000); /* the jumps come last */
	first(1);
	long (*late)(long) = (long (*)(long))dlsym(dlopen("./liblate.so", RTLD_NOW), "late");
	if (!late || late(1) != 2) return 1;
	usleep(200000);
	return 7;
}
#endif
EOF
for lib in first late; do cc -O2 -shared -fPIC -o lib$lib.so $lib.c; done
cc -O2 -o loads loads.c -L. -lfirst -Wl,-rpath,.
cc -O2 -DLATE -o starts loads.c -L. -lfirst -llate -Wl,-rpath,.
record loads --engine auto -F libfirst.so:first -F liblate.so:late -- ./starts
is "$status" 7 "a child that loads a library later does what it does" || diag loads.err
is "$(calls loads first)" 2 "it is patched for the library that it had" || diag loads.err
like loads.err 'lack calls.* 1 of them those of a library that they loaded' "and what it loaded later is said" || diag loads.err

# ---- threads that run before the program does ----

# A library's constructor starts a thread, which calls a patched function once the program runs.
cat >early.c <<'EOF'
#include <pthread.h>
#include <unistd.h>
static pthread_t thread;
static volatile int go;
__attribute__((noinline, noclone, used, aligned(64))) long often(long x) { volatile long s = x; return s + 1; }
static void *work(void *unused) { while (!go) usleep(1000); for (long i = 0; i < 101; i++) often(i); return unused; }
__attribute__((constructor)) static void begin(void) { pthread_create(&thread, NULL, work, NULL); }
long early(long n);
long early(long n) { go = 1; pthread_join(thread, NULL); return often(n); }
EOF
echo 'long early(long n); int main(void) { return (int)early(5); }' >late.c
cc -O2 -shared -fPIC -o libearly.so early.c -pthread
cc -O2 -o late late.c -L. -learly -Wl,-rpath,"$PWD"
for engine in auto in-process; do
	record early --engine "$engine" -F 'libearly.so:often' -- ./late
	is "$status/$(engine early often)/$(calls early often)" 6/in-process/102 "a thread of a constructor is patched, too: $engine" || diag early.err
done

# ---- attach ----

# sum PID: of its program's code
sum() {
	local from to
	IFS='- ' read -r from to _ < <(awk '$2 ~ /x/ && /both$/' "/proc/$1/maps")
	dd if="/proc/$1/mem" bs=4096 skip=$((16#$from / 4096)) count=$(((16#$to - 16#$from) / 4096)) 2>/dev/null | sha256sum
}
./both 2 1000000000 3 >/dev/null 2>&1 &
running=$!
children+=("$running")
started "$running" both
before=$(sum "$running")
"$ISPOT" record --engine auto -o attached.data "${chosen[@]}" -p "$running" -d 1 >attached.out 2>&1
is "$?" 0 "a running process" || diag attached.out
is "$(engine attached round_of)/$(engine attached jumps)" in-process/kernel "both engines in it" || diag attached.out
is "$(sum "$running")" "$before" "afterwards its code is what it was"
kill -0 "$running"
ok $? "and it runs on"
kill "$running"

# A thread that does not stop while others stand, here in vfork(), goes on when it has after all.
cat >waits.c <<'EOF'
#include <pthread.h>
#include <unistd.h>
__attribute__((noinline, noclone, used, aligned(64))) long often(long x) { volatile long s = x; return s + 1; }
static void *work(void *unused) { for (;;) { often(1); usleep(1000); } return unused; }
int main(void)
{
	pthread_t thread;
	char c;
	pthread_create(&thread, NULL, work, NULL);
	if (!vfork()) { if (read(0, &c, 1)) _exit(0); _exit(1); }
	if (write(1, "back\n", 5) == 5) pthread_join(thread, NULL);
	return 0;
}
EOF
cc -O2 -o waits waits.c -pthread
mkfifo gate
./waits <gate >waits.out &
waits=$!
children+=("$waits")
exec 9>gate
eventually child "$waits" waits
"$ISPOT" record --engine auto -o waits.data -F often -p "$waits" >waits.err 2>&1 &
recorder=$!
eventually grep -q 'all calls are timed by kernel probes' waits.err
like waits.err 'all calls are timed by kernel probes: thread [0-9]* of process [0-9]* does not stop' "a thread that does not stop" || diag waits.err
echo >&9
exec 9>&-
eventually grep -q back waits.out
ok $? "goes on while it is recorded" || diag waits.err
kill -INT "$recorder"
wait "$recorder"
is "$(engine waits often)" kernel "by kernel probes" || diag waits.err
kill "$waits"

# ---- without -F ----

# A command's own functions and its locks are timed from its first instruction on, so the shortest run has them all.
record brief --engine auto -- ./both 3 211 7 2
is "$status/$(cat brief.out)" 3/done "without -F: the program does what it does" || diag brief.err
is "$(engine brief locked)/$(engine brief round_of)/$(engine brief pthread_mutex_lock)" in-process/in-process/in-process \
	"a command's functions and its locks are timed in process" || diag brief.err
if [ "$(trace_of brief lost_records)" = 0 ]; then
	is "$(calls brief locked)/$(calls brief round_of)/$(calls brief often)" 1055/1055/0 \
		"each call of a short run, but of functions that are too brief" || diag brief.err
else
	skip "each call of a short run" "records were lost"
fi
unlike brief.err 'ended before ispot had chosen' "so that nothing was missed" || diag brief.err

# Of a running process, calls of `paced` are too costly for kernel probes, and are timed in process.
running() {
	local name=$1 both recorder
	shift
	rm -f gate.of "$name.data"
	GATE=gate.of PACE=100000 ./both "$@" >"$name.out" &
	both=$!
	children+=("$both")
	started "$both" both
	"$ISPOT" record --engine auto -o "$name.data" -p "$both" >/dev/null 2>"$name.err" &
	recorder=$!
	children+=("$recorder")
	eventually test -s "$name.data"
	touch gate.of
	wait "$both"
	status=$?
	wait "$recorder"
}
hot() {
	running hot 1 "$1" 2000
	[ "$(engine hot paced)" = in-process ]
}
hot 120 || hot 360 || hot 1200
ok $? "what is over the budget of kernel probes is timed in process" || diag hot.err
is "$status/$(cat hot.out)" 3/done "and the program does what it does"

# What it has loaded by the time its functions are chosen is looked at, too.
echo 'int nothing;' >nothing.c
cc -shared -fPIC -o libseccomp.so.9 nothing.c
loader() {
	ALSO=./libseccomp.so.9 running loader 1 "$1" 2000
	[ "$(engine loader paced)" = in-process ] || grep -q 'kernel probes: .*uses libseccomp' loader.err
}
loader 120 || loader 360 || loader 1200
like loader.err 'all calls are timed by kernel probes: .*uses libseccomp' "a program that loads what is refused later" || diag loader.err
is "$status/$(cat loader.out)" 3/done "runs" || diag loader.err

partly() {
	ALSO_IN_CHILD=./libseccomp.so.9 running partly 1 "$1" 2000 1
	[ "$(engine partly paced)" = in-process ] && grep -q 'has no records of functions that are timed in process' partly.err
}
partly 120 || partly 360 || partly 1200
like partly.err 'process [0-9]* has no records of functions that are timed in process: .*uses libseccomp.*; record with --engine kernel' \
	"where one process is refused and another is not, that is said" || diag partly.err
is "$status/$(cat partly.out)" 3/done "and both run" || diag partly.err

# ---- what takes kernel probes alone ----

while read -r options; do
	# shellcheck disable=SC2086 # an option and its value
	record alone --engine auto $options -F often -- ./both 1 101 3
	like alone.err "all calls are timed by kernel probes: with ${options%% *}" "$options: says that kernel probes time all calls" || diag alone.err
	is "$(engine alone often)" kernel "$options: they do" || diag alone.err
done <<-'EOR'
	-g fp
	--no-inherit
	--slow-stacks 1s
EOR
record shell --engine auto -F often -- sh -c './both 1 101 3; true'
like shell.err 'all calls are timed by kernel probes: .*does not know which program to patch' "what a shell makes of a command: kernel probes" || diag shell.err
is "$(calls shell often)" 303 "and each call" || diag shell.err
record arguments --engine auto -F often@arg1 -F round_of -- ./both 1 101 3
is "$(engine arguments often)/$(engine arguments round_of)" in-process/in-process "arguments in process" || diag arguments.err
is "$("$ISPOT" dump --events -i arguments.data | grep -c ' args mask=0x1 ')" 303 "of each call"
if command -v setpriv >/dev/null; then
	chmod 755 "$DIR"
	# What it refuses is seen where it stands at its entry point: the probes come before it runs on.
	record foreign --engine auto -F round_of -- setpriv --reuid 65534 --regid 65534 --clear-groups ./both 1 101 10
	is "$status/$(cat foreign.out)" 3/done "a command that becomes another user's runs" || diag foreign.err
	like foreign.err 'all calls are timed by kernel probes: .*does not have all the rights' "and says why it has kernel probes" || diag foreign.err
	is "$(engine foreign round_of)/$(calls foreign round_of)" kernel/101 "which it has, for each call" || diag foreign.err
else
	skip "a command that becomes another user's runs" "no setpriv"
	skip "and says why it has kernel probes" "no setpriv"
	skip "which it has" "no setpriv"
fi
# Nobody may trace here, as under strace -f or in a container: the command is let go all the same.
cat >untraced.c <<'EOF'
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ptrace, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(*filter), filter };
	if (argc < 2 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) return 1;
	execvp(argv[1], argv + 1);
	return 1;
}
EOF
if cc -o untraced untraced.c 2>compile.err && ./untraced true; then
	timeout 60 ./untraced "$ISPOT" record -o untraced.data --engine auto -F often -- ./both 1 101 3 >untraced.out 2>untraced.err
	is "$?/$(cat untraced.out)" 3/done "a command that cannot be traced runs" || diag untraced.err
	is "$(engine untraced often)/$(calls untraced often)" kernel/303 "and has kernel probes" || diag untraced.err
else
	skip "a command that cannot be traced runs" "no seccomp filter: $(cat compile.err)"
	skip "and has kernel probes" "no seccomp filter"
fi
record missing --engine auto -F often -- ./none
is "$status" 127 "no such command" || diag missing.err

# ---- other commands ----

# engines_of FILE: of each function of a check's JSON
engines_of() { jq -r '[.functions[] | .name + " " + (.engine // "none")] | sort | join(", ")' "$1"; }
for asked in kernel in-process auto; do
	"$ISPOT" check --engine "$asked" --json -F often -F jumps -F pthread_mutex_lock -F pthread_barrier_wait ./both >check.json 2>check.err
	case $asked in
	kernel) wanted="jumps kernel, often kernel, pthread_barrier_wait kernel, pthread_mutex_lock kernel" ;;
	in-process) wanted="jumps none, often in-process, pthread_barrier_wait in-process, pthread_mutex_lock in-process" ;;
	auto) wanted="jumps kernel, often in-process, pthread_barrier_wait kernel, pthread_mutex_lock in-process" ;;
	esac
	is "$(engines_of check.json)" "$wanted" "check --engine $asked: what would time which function" || diag check.err
done
"$ISPOT" check --json -F often -F jumps ./both >check.json 2>check.err
is "$(engines_of check.json)" "jumps kernel, often in-process" "check says what record does by itself" || diag check.err
"$ISPOT" check --engine auto -F often -F jumps ./both >check.out 2>&1
like check.out 'ENGINE +FUNCTION' "check --engine has a column of engines"
like check.out 'in-process often' "in which it stands"
"$ISPOT" check --engine in-process -F fopen sh -c './both; ./both' >check.out 2>&1
is "$?" 1 "check --engine in-process: a program that is not known"
like check.out 'does not know which program to patch' "is refused in the words of record" || diag check.out
"$ISPOT" bench --engine in-process --json >bench.json 2>bench.err
is "$(jq -c 'map([.engine, .class, .full_p50_ns > 0, .passed_ns < .full_p50_ns])' bench.json)" '[["in-process",null,true,true]]' "bench --engine in-process" || diag bench.err
"$ISPOT" bench --engine auto -t 1 --json >bench.json 2>bench.err
is "$(jq -r 'map(.engine) | unique | join(" ")' bench.json)" "in-process kernel" "bench --engine auto: both" || diag bench.err
if unshare -m true 2>/dev/null; then # not in every chroot or container
	echo hpet acpi_pm >clocks
	echo hpet >clock
	# shellcheck disable=SC2016 # for the inner shell
	unshare -m sh -c 'mount --bind clocks /sys/devices/system/clocksource/clocksource0/available_clocksource &&
		mount --bind clock /sys/devices/system/clocksource/clocksource0/current_clocksource &&
		"$1" bench --engine auto -t 1 --json' sh "$ISPOT" >bench.json 2>bench.err
	is "$?/$(jq -r 'map(.engine) | unique | join(" ")' bench.json)" 0/kernel "bench --engine auto without a stable TSC: what was measured" ||
		diag bench.err
	like bench.err 'in process nothing is measured: .*TSC' "and why not the rest"
else
	skip "bench --engine auto without a stable TSC: what was measured" "unshare is not allowed here"
	skip "and why not the rest" "unshare is not allowed here"
fi
is "$("$ISPOT" list --json | jq .in_process.usable)" true "list says whether calls can be timed in process"
"$ISPOT" list --engine auto >list.out 2>&1
like list.out 'record --engine auto works here, by both engines' "list --engine auto" || diag list.out
"$ISPOT" stat --engine auto --json -F often -F jumps -- ./both 1 101 3 2>stat.err | grep -v '^done' >stat.json
is "$(jq -r 'select(.blocks) | .blocks[] | select(.kind == "function") | "\(.name) \(.probe.engine) \(.calls)"' stat.json | sort | paste -sd,)" \
	"jumps kernel 101,often in-process 303" "stat --engine auto: each call, by either engine" || diag stat.err
"$ISPOT" stat --engine auto -D 10ms -F often -- ./both 1 101 3 >stat.out 2>&1
like stat.out 'all calls are timed by kernel probes: with -D' "stat --engine auto -D: says that kernel probes time all calls" || diag stat.out
while IFS='|' read -r words why; do
	# shellcheck disable=SC2086 # a command and its options
	"$ISPOT" $words >refused.out 2>&1
	is "$?" 2 "$words: refused"
	like refused.out "$why" "$words: why" || diag refused.out
done <<-'EOR'
	record --engine none true|no engine; give kernel, in-process or auto
	check --engine none true|no engine; give kernel, in-process or auto
	check --engine auto --stats true|leave out --engine
	check --engine auto --perf-script -F main true|leave out --engine
	bench --engine in-process -t 2|in process one thread is measured: leave -t out
	list --engine none|no engine; give kernel, in-process or auto
	stat --engine in-process true|give --engine auto, or ispot record --engine in-process
	outliers --engine auto|outliers reads what was recorded; give it to ispot record
	imbalance --engine auto|imbalance reads what was recorded; give it to ispot record
	imbalance --engine auto -- true|patches would be among them; leave it out
EOR
is "$(grep -l -w nan ./*.err)" "" "no share of time is printed that is not a number"

done_testing
