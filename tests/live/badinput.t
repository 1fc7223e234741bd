#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Bad input gets one clear line, a documented exit status, and nothing lost.
. "$(dirname "$0")/lib.sh"
needs_probes

# refuses NAME STATUS REGEX: the record before exited so, with one `ispot: …: what`, and `hint: what to do`
refuses() {
	is "$status" "$2" "$1: status $2" || diag "$1.err"
	is "$(grep -c '^ispot: ' "$1.err")" 1 "$1: one error line" || diag "$1.err"
	like "$1.err" "$3" "$1: the line says what"
}

# run NAME COMMAND...: NAME.out, NAME.err, $status
run() {
	local name=$1
	shift
	"$@" >"$name.out" 2>"$name.err"
	status=$?
}

exact=$MB/exact

# ---- what to trace ----
record nearest -F factorail -- "$exact" -n 1
refuses nearest 125 "did you mean.*factorial"
record numeric -F 99 -- "$exact" -n 1
refuses numeric 2 "frequency|perf"
record nothing_matched -F 'zzz*' -- "$exact" -n 1
refuses nothing_matched 125 "zzz"
record bad_regex -F '/(/' -- "$exact" -n 1
refuses bad_regex 2 "regex|expression"
record large_regex -F "/f$(printf '%040d' 0 | tr 0 +)/" -- "$exact" -n 1
refuses large_regex 2 "repetitions multiply"
record slow_regex -F '/-*+++++++++++/' -- "$exact" -n 1
refuses slow_regex 2 "repetitions multiply"
record anchored_regex -F '/$-+*+++++/' -- "$exact" -n 1
refuses anchored_regex 2 "repetitions multiply"
record stacked_regex -F "/-*a*****************************++*+++*+++*+,/" -- "$exact" -n 1
refuses stacked_regex 2 "repetitions multiply"
record empty_pattern -F '' -- "$exact" -n 1
refuses empty_pattern 2 "names no function"
record no_argument -F 'outer@' -- "$exact" -n 1
refuses no_argument 2 "no argument stands behind"
record wrong_argument -F outer@nope -- "$exact" -n 1
refuses wrong_argument 2 "no such argument; it is uint64_t outer"
record no_object -F :outer -- "$exact" -n 1
refuses no_object 2 "names no object"
record commas -F outer,inner -- "$exact" -n 1
refuses commas 125 "commas do not part patterns"
record no_list -F @no-such-list -- "$exact" -n 1
refuses no_list 2 "no-such-list"

record no_time -d 0 -F outer -- "$exact" -n 1
refuses no_time 2 "-d 0"
record no_budget --overhead 0 -- "$exact" -n 1
refuses no_budget 2 "--overhead 0: not a percentage"
record no_bound --overhead 200 -- "$exact" -n 1
refuses no_bound 2 "--overhead 200: not a percentage above 0, up to 100"
record no_room --max-size 1K -F outer -- "$exact" -n 1
refuses no_room 2 "--max-size"
run graph_took "$ISPOT" record -F outer -g "$exact"
refuses graph_took 2 "nothing to record: -g took .*exact"
run nothing "$ISPOT" record -F outer
refuses nothing 2 "nothing to record; give"
record no_ring -m 3G -F outer -- "$exact" -n 1
refuses no_ring 2 "-m: a ring holds at most 2G"
run top_none "$ISPOT" report --top 0
refuses top_none 2 "--top 0"
run bench_none "$ISPOT" bench -t 0
refuses bench_none 2 "-t 0"
run bench_word "$ISPOT" bench fast
refuses bench_word 2 "fast"
run unknown_option "$ISPOT" report --htlm x
like unknown_option.err 'no option --htlm' "an unknown option: said"
unlike unknown_option.err '--top' "an unknown option: no far-fetched guess"

# A script is its interpreter's, and what it starts is looked at when it starts.
printf '#!/bin/sh\n%s/phases -d 500000 & wait $!\nexit 7\n' "$MB" >script.sh
chmod +x script.sh
record script -F first_phase -- ./script.sh
is "$status" 7 "a script: its status" || diag script.err
report script
is "$(trace script .program)" script.sh "a script: its name"
[ "$(block script first_phase .calls)" -gt 0 ]
ok $? "a script: functions of a program that it starts" || diag script.err
unlike script.err 'traced from' "a script: what its words name is traced from its start"
# shellcheck disable=SC2016 # the script's own
sed 's|/phases|/$1|' script.sh >script2.sh && chmod +x script2.sh
record script2 -F phases:first_phase -- ./script2.sh phases
like script2.err 'phases, mapped while .*; record the program itself' "a script: what they do not is not, which is said"
record script_nothing -F some_function -- ./script.sh
is "$status" 7 "a script without such a function: its status"
like script_nothing.err 'matches no function' "a script without such a function: said"
# A program that is first seen when it starts: what is wrong is said then, and of its functions only.
cat >late.sh <<EOF
#!/bin/sh
PATH=$MB:\$PATH
exec spawner --seconds 300 --log late.log
EOF
chmod +x late.sh
"$ISPOT" record -o late.data -F spawned_call@nope -- ./late.sh >late.out 2>late.err &
late=$!
for _ in $(seq 300); do
	grep -q 'no such argument' late.err && break
	sleep 0.1
done
kill -TERM "$late"
wait "$late"
like late.err 'no such argument' "a wrong argument in a program that a script starts: said"
unlike late.err 'matches no function' "and not that nothing matches"
printf 'no\0program\n' >no-program
chmod +x no-program
record no_program -F some_function -- ./no-program
refuses no_program 125 "not an ELF file"

if command -v strip >/dev/null; then
	strip -o stripped "$exact"
	record stripped -F outer -- ./stripped -n 1
	refuses stripped 125 "stripped is stripped.*do not strip it"
	if command -v objcopy >/dev/null; then
		objcopy --only-keep-debug "$exact" stripped.debug
		objcopy --add-gnu-debuglink=stripped.debug stripped
		record debuglink -F outer -- ./stripped -n 11
		is "$status" 0 ".gnu_debuglink: status" || diag debuglink.err
		report debuglink
		is "$(block debuglink outer .calls)" 11 ".gnu_debuglink: found and counted"
		cp "$exact" mini
		objcopy --only-keep-debug "$exact" mini.debug
		xz -k mini.debug
		strip --strip-all --add-section .gnu_debugdata=mini.debug.xz -o mini mini 2>/dev/null ||
			{ strip mini && objcopy --add-section .gnu_debugdata=mini.debug.xz mini; }
		record debugdata -F outer -- ./mini -n 11
		is "$status" 0 ".gnu_debugdata: status" || diag debugdata.err
		report debugdata
		is "$(block debugdata outer .calls)" 11 ".gnu_debugdata: found and counted"
	fi
else
	skip "stripped programs" "no strip here"
fi

# Of libc's string functions most are IFUNCs on x86-64.
record ifunc -F libc:strlen -- "$exact" -n 1
if [ "$status" = 0 ]; then
	pass "IFUNC: resolved, or not an IFUNC here"
else
	refuses ifunc 125 "IFUNC|indirect"
fi

if command -v gcc >/dev/null; then
	cat >odd.c <<-'EOC'
		#include <stdio.h>
		static inline __attribute__((always_inline)) int only_inlined(int x) { return x * 3 + 1; }
		__asm__(".globl size_zero\n.type size_zero, @function\nsize_zero: ret\n");
		void size_zero(void);
		int main(int argc, char **argv)
		{
			(void)argv;
			size_zero();
			return only_inlined(argc) == 0;
		}
	EOC
	gcc -O2 -g odd.c -o odd 2>odd.cc-err
	record only_inlined -F only_inlined -- ./odd
	refuses only_inlined 125 "inline"
	record size_zero -F size_zero -- ./odd
	if [ "$status" = 0 ]; then
		report size_zero
		is "$(block size_zero size_zero .calls)" 1 "size-0 symbol: traced"
	else
		refuses size_zero 125 "size"
	fi
else
	skip "odd symbols" "no gcc here"
fi

# A shared object is not executable, and check has something to say about it.
if command -v gcc >/dev/null; then
	echo 'int exported(int x) { return x + 1; }' >lib.c
	gcc -shared -fPIC -O1 -o liblate.so lib.c && chmod -x liblate.so
	run check_library "$ISPOT" check --json -F exported ./liblate.so
	is "$status" 0 "check of a shared object: status" || diag check_library.err
	is "$(jq -r '.functions[] | "\(.name) \(.possible)"' check_library.out)" "exported true" \
		"check of a shared object: its function"
	run check_text "$ISPOT" check -F exported ./lib.c
	refuses check_text 1 "not executable; chmod"
else
	skip "check of a shared object" "no gcc here"
fi

# Without Go's compiler: the section that all its programs have tells.
if command -v gcc >/dev/null; then
	cat >go.c <<-'EOC'
		__asm__(".section .go.buildinfo,\"a\"; .byte 0; .text");
		int main(void) { return 0; }
	EOC
	gcc -o hello go.c
	record setjmp -F libc:setjmp -- "$exact" -n 1
	refuses setjmp 125 "setjmp in .* cannot be traced: it returns more than once"
	record go -F main -- ./hello
	refuses go 125 "Go"
	record go_all -- ./hello
	is "$status" 0 "a Go program is recorded without functions"
	like go_all.err "hello is a Go program: no function of it is traced" "and ispot says so"
	cat >late.c <<-'EOC'
		static int one(void) { return 1; }
		static int (*resolve(void))(void) { return one; }
		int chosen_late(void) __attribute__((ifunc("resolve")));
		int main(void) { return chosen_late() - 1; }
	EOC
	if gcc -o late late.c 2>late.cc-err; then
		record late -F chosen_late -- ./late
		refuses late 125 "IFUNC"
		record late_target -F one -- ./late
		report late_target
		is "$(block late_target one .calls)" 1 "IFUNC: the function behind it is traced"
	else
		skip "an IFUNC of one's own" "$(head -1 late.cc-err)"
	fi
	gcc -static -o static go.c 2>static.cc-err && strip -R .go.buildinfo static 2>/dev/null
	record no_symbols -F main -- ./static
	refuses no_symbols 125 "no symbols at all.*debuginfod"
else
	skip "Go binary, IFUNC, no symbols at all" "no gcc here"
fi

if command -v go >/dev/null; then
	cat >real.go <<-'EOG'
		package main

		import "fmt"

		//go:noinline
		func work(n int) int { return n + 1 }
		func main() { fmt.Println(work(1)) }
	EOG
	if GO111MODULE=off GOCACHE=$DIR/gocache go build -o real real.go 2>go.err; then
		record go_real -F main.work -- ./real
		refuses go_real 125 "main.work in .*real cannot be traced: Go moves its stacks"
		record go_real_all -- ./real
		is "$status" 0 "a real Go program is recorded without functions"
		like go_real_all.err "real is a Go program: no function of it is traced" "and ispot says so"
	else
		skip "a real Go program" "$(head -1 go.err)"
	fi
else
	skip "a real Go program" "no go here"
fi

# ---- what stands in the way ----
if command -v setpriv >/dev/null; then
	chmod 755 "$DIR"
	cp "$ISPOT" "$exact" . && chmod 755 ispot exact
	mkdir -m 777 open
	(cd open && setpriv --reuid 65534 --regid 65534 --clear-groups ../ispot record --engine kernel -F outer -- \
		../exact -n 1) >unprivileged.out 2>unprivileged.err
	status=$?
	refuses unprivileged 125 "sudo|root|CAP_"
	"$MB/spawner" --seconds 300 --log s.log >/dev/null &
	children+=($!)
	other=$!
	started $other spawner
	(cd open && setpriv --reuid 65534 --regid 65534 --clear-groups ../ispot record --engine kernel -F spawned_call \
		-p $other -d 0.1) >attach_denied.out 2>attach_denied.err
	status=$?
	refuses attach_denied 125 "sudo|root|CAP_|permi"
	setpriv --bounding-set=-sys_admin,-bpf,-perfmon --inh-caps=-sys_admin,-bpf,-perfmon "$ISPOT" \
		record -o nocap.data -F outer -- "$exact" -n 1 >nocap.out 2>nocap.err
	status=$?
	refuses nocap 125 "CAP_|capabilit"
	kill $other
else
	skip "missing privilege" "no setpriv here"
fi

if unshare -m true 2>/dev/null; then # not in every chroot or container
	unshare -m sh -c "mount -t tmpfs none /sys/kernel && exec '$ISPOT' record -o hidden.data -F outer -- \
		'$exact' -n 11" >hidden.out 2>hidden.err
	status=$?
	refuses hidden 125 "tracefs|describes no types"
	unshare -m sh -c "umount /sys/kernel/tracing; umount /sys/kernel/debug/tracing
		! grep ' tracefs ' /proc/mounts >&2 && exec '$ISPOT' record -o unmounted.data -F outer -- '$exact' -n 11" >unmounted.out 2>unmounted.err
	is $? 0 "tracefs not mounted: mounted" || diag unmounted.err
	unshare -m sh -c "mkdir -p elsewhere; umount /sys/kernel/tracing 2>/dev/null;
		umount /sys/kernel/debug/tracing 2>/dev/null; mount -t tracefs none elsewhere &&
		exec '$ISPOT' record -o elsewhere.data -F outer -- '$exact' -n 11" >elsewhere.out 2>elsewhere.err
	is $? 0 "tracefs mounted elsewhere: found" || diag elsewhere.err
else
	skip "tracefs hidden, not mounted, mounted elsewhere" "no namespace of mounts can be made here"
fi

(ulimit -Sn 16 && "$ISPOT" record -o fds.data -F outer -- "$exact" -n 11) >fds.out 2>fds.err
is $? 0 "few file descriptors: the limit is raised" || diag fds.err
# Wherever it is that the next one has no room, in the files, the programs, the pipes: refused at once,
# or every call is recorded.
fds_refused=0 fds_recorded=0 fds_else=
for limit in $(seq 8 5 200); do
	(ulimit -Sn "$limit" -Hn "$limit" && timeout -k 10 60 "$ISPOT" record -o fds2.data -F outer -- "$exact" -n 7) >fds2.out 2>fds2.err
	status=$?
	if [ $status = 125 ] && joined fds2.err | grep -q "too few file descriptors.*raise 'ulimit -Hn'"; then
		fds_refused=$((fds_refused + 1))
	elif [ $status = 0 ] && report fds2 && [ "$(block fds2 outer .calls)" = 7 ]; then
		fds_recorded=$((fds_recorded + 1))
	else
		fds_else+=" $limit:$status"
	fi
done
is "$fds_else" "" "too few file descriptors: refused and said, or nothing is missing"
[ $fds_refused -gt 0 ] && [ $fds_recorded -gt 0 ]
ok $? "too few file descriptors: both were seen" || diag "refused $fds_refused, recorded $fds_recorded"
(ulimit -Sn 16 -Hn 16 && "$ISPOT" record -o fds3.data -F outer -- "$exact" -n 1) >fds_hard.out 2>fds_hard.err
status=$?
refuses fds_hard 125 "too few file descriptors.*raise 'ulimit -Hn'"
# Programs that translate another one's code, which reads a probe's breakpoint as an instruction.
if command -v valgrind >/dev/null; then
	record translated -F outer -- valgrind -q "$exact" -n 1
	refuses translated 125 "valgrind runs a translation of the program"
	record translated_by_default -- valgrind -q "$exact" -n 1
	refuses translated_by_default 125 "valgrind runs a translation of the program"
	valgrind -q "$MB/spawner" --seconds 60 >/dev/null 2>&1 & children+=($!)
	case $(uname -m) in aarch64) tool=memcheck-arm64-linux ;; *) tool=memcheck-amd64-linux ;; esac
	started $! "$tool"
	record translated_pid -F outer -d 1 -p $!
	refuses translated_pid 125 "memcheck.* runs a translation of the program"
	kill -9 $!
else
	skip "programs that translate" "no valgrind here"
fi
# Wherever memory ends, in ispot or in a library of its: what failed is not taken for the command, and what
# that has done is in the file.
memory_refused=0 memory_recorded=0 memory_else=
for limit in 40 60 80 100 125 150 200 250 400; do
	(ulimit -v $((limit * 1024)) && "$ISPOT" --version) >version.out 2>&1 || continue # nothing of it runs
	(ulimit -v $((limit * 1024)) && timeout -k 10 60 "$ISPOT" record -o memory.data -F outer -- "$exact" -n 7) >memory.out 2>memory.err
	status=$?
	if [ $status = 125 ] && grep -Eq '^ispot: .*([Cc]annot allocate|memory)' memory.err &&
		{ ! grep -q '^expect' memory.out || { report memory && [ "$(block memory outer .calls)" = 7 ]; }; }; then
		memory_refused=$((memory_refused + 1))
	elif [ $status = 0 ] && report memory && [ "$(block memory outer .calls)" = 7 ]; then
		memory_recorded=$((memory_recorded + 1))
	elif [[ $status = 13[49] ]] && report memory && [ "$(block memory outer .calls)" = 7 ]; then
		: # libdw asserts that there is memory
	else
		memory_else+=" $limit:$status"
		diag "with $limit MB, status $status: $(tail -n 3 memory.err) $(tail -n 2 memory.out)"
	fi
done
is "$memory_else" "" "too little memory: refused and said, or nothing is missing"
if (ulimit -v 409600 && "$ISPOT" --version) >version.out 2>&1; then
	[ $memory_refused -gt 0 ] && [ $memory_recorded -gt 0 ]
	ok $? "too little memory: both were seen" || diag "refused $memory_refused, recorded $memory_recorded"
else
	skip "too little memory: both were seen" "not even ispot --version runs in 400 MB"
fi
(ulimit -l 0 && "$ISPOT" record -o locked.data -F outer -- "$exact" -n 11) >locked.out 2>locked.err
is $? 0 "locked-memory limit: root is above it, or it is raised" || diag locked.err
# Without the right to be above it, what one user may lock is soon taken by recordings that go on.
if command -v setpriv >/dev/null && [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -gt -1 ]; then
	within_limit() {
		ulimit -l 0
		exec setpriv --bounding-set=-ipc_lock --inh-caps=-ipc_lock "$ISPOT" record "$@"
	}
	begun_or_ended() { [ -s "$1" ] || ! kill -0 "$2" 2>/dev/null; }
	lockers=() locked_status=0
	for i in 1 2 3 4 5 6; do
		(within_limit -o "locked$i.data" -F outer -- "$exact" -n 11) >locked.out 2>locked.err
		locked_status=$?
		[ $locked_status = 0 ] || break
		(within_limit -o "locker$i.data" -F libc.so.6:nanosleep -- sleep 60) >/dev/null 2>"locker$i.err" &
		lockers+=($!)
		children+=($!)
		eventually begun_or_ended "locker$i.data" $!
	done
	is $locked_status 125 "locked-memory limit: refused where it is reached" || diag locked.err
	like locked.err '^ispot: .*cannot map a ring .*; .*ulimit -l' "locked-memory limit: said, with what to do"
	if [ ${#lockers[@]} -gt 0 ]; then # wait for none would be for all
		kill "${lockers[@]}" 2>/dev/null
		wait "${lockers[@]}"
	fi
else
	skip "the locked-memory limit is reached" "no setpriv, or this kernel lets everybody lock"
fi

record no_pid -F outer -p 4194303
refuses no_pid 125 "4194303"
sleep 0 &
gone=$!
wait $gone
record gone_pid -F outer -p $gone
refuses gone_pid 125 "no process $gone"
record bad_pid -F outer -p abc
refuses bad_pid 2 "'abc' is not a process id"
if [ "$(cat /proc/2/comm 2>/dev/null)" = kthreadd ]; then
	record kernel_thread -F outer -p 2
	refuses kernel_thread 125 "thread of the kernel"
else
	skip "a thread of the kernel" "none to be seen"
fi
"$MB/spawner" --seconds 300 --log ended.log >/dev/null &
children+=($!)
ending=$!
started $ending spawner
(
	while kill -0 $ending 2>/dev/null; do
		sleep 0.2
		report ended 2>/dev/null && [ "$(trace ended .calls)" -gt 0 ] && kill -9 $ending
	done
) &
record ended -F spawned_call -p $ending
is "$status" 0 "the process ends while it is recorded" || diag ended.err
like ended.err 'processes ended' "the process ends: said"
report ended
[ "$(block ended spawned_call .calls)" -gt 0 ]
ok $? "the process ends: its calls are there"

# ---- where to ----
run full_device "$ISPOT" record -o /dev/full -F outer -- "$exact" -n 1
is "$status" 0 "no space at all: the command's status"
like full_device.err 'No space left on device; .*name another file' "no space at all: said"
unlike full_device.err 'no calls were seen' "no space at all: calls are not missed"
run output "$ISPOT" record -o /no/such/directory/x.data -F outer -- "$exact" -n 1
refuses output 125 "/no/such/directory"
if unshare -m true 2>/dev/null; then # not in every chroot or container
	mkdir small
	unshare -m sh -c "mount -t tmpfs -o size=512k none small && '$ISPOT' record -o small/x.data -F inner \
		-- '$exact' -n 2000003; echo \$? >full.status; cp small/x.data full.data; rm -f small/x.data" \
		>full.out 2>full.err
	is "$(cat full.status)" 0 "disk full: the command's status"
	like full.err 'space|full' "disk full: said"
	report full
	ok $? "disk full: what was written can be read" || diag full.report-err
	matches=$(grep -c '^expect' full.out)
	is "$matches" 7 "disk full: the command ran to its end"
fi

record zero -F never_called -- "$exact" -n 1
is "$status" 0 "zero calls: status 0"
like zero.err "never|no call|0 calls" "zero calls: a notice"
"$ISPOT" report -i zero.data >zero.screen
like zero.screen '^Next: +ispot record -- ' "zero calls: what to do next"
unlike zero.screen 'No function loses' "zero calls: nothing is concluded"
record once -F main -- "$exact" -n 1
like once.err ' 1 call of 1 function in ' "one call of one function"

# ---- an end that the target did not choose ----
record too_large --max-size 200K -F inner -- "$exact" -n 200003
is "$status" 0 "--max-size reached: the command's status"
like too_large.err 'max-size' "--max-size reached: said"
run too_large_report "$ISPOT" report too_large.data
like too_large_report.out '--max-size' "--max-size reached: repeated by the report"

# ---- whose name ----
"$MB/spawner" --seconds 300 --log names.log >/dev/null &
children+=($!)
named=$!
started $named spawner
record attach_too_large --max-size 64K -F spawned_call -F 'libc:pthread_*' -d 30 -p $named
is "$status" 0 "--max-size reached while attached: status" || diag attach_too_large.err
like attach_too_large.err '--max-size' "--max-size reached while attached: said"
report attach_too_large
[ "$(jq .trace.calls attach_too_large.json)" -gt 1000 ] && [ "$(stat -c %s attach_too_large.data)" -gt 40000 ]
ok $? "and the file is nearly as large as it may be, and has calls" || diag attach_too_large.err
"$ISPOT" record -o names.data -F spawned_call -p $named -- sleep 0.3 2>names.err
"$ISPOT" record -q -o going.data -F spawned_call -p $named 2>going.err & children+=($!)
going=$!
for _ in $(seq 100); do
	run going "$ISPOT" report -i going.data
	[ $status -eq 0 ] && break
	sleep 0.1
done
like going.out "^note: still being recorded: these are the first .* of it$" "a report of a recording that goes on"
unlike going.out "killed" "which nobody killed"
kill -INT $going
wait $going
kill $named
run names_screen "$ISPOT" report names.data
like names_screen.out "^spawner \\(pid $named\\)" "attached, with a command: the attached program's name"
# As redis-server is redis-check-rdb's file by another name.
ln -s "$MB/spawner" other-name
./other-name --seconds 300 --log other.log >/dev/null &
children+=($!)
linked=$!
started $linked spawner
record linked -F spawned_call -d 0.2 -p $linked
run linked_screen "$ISPOT" report linked.data
like linked_screen.out "^other-name \\(pid $linked\\)" "attached, started by a link: the link's name"
record linked --engine in-process -F spawned_call -d 0.2 -p $linked
run linked_screen "$ISPOT" report linked.data
if [ "$status" = 0 ]; then
	like linked_screen.out "^other-name \\(pid $linked\\)" "in process, too"
else
	skip "in process, too" "$(head -1 linked.err)"
fi
kill $linked
record wrapped -F outer -- env A=1 nice -n 1 sh -c "exec $exact -n 11"
run wrapped_screen "$ISPOT" report wrapped.data
like wrapped_screen.out "^exact " "through wrappers: the name of the program meant"
printf '%s -n 13\nexit 3\n' "$exact" >no-first-line
chmod +x no-first-line
record no_first_line -F outer -- ./no-first-line
is "$status" 3 "a script without a first line is one for sh: status" || diag no_first_line.err
report no_first_line
is "$(block no_first_line outer .calls)" 13 "and what it runs is traced"

# ---- files that are none ----
record good -F outer -- "$exact" -n 50021
refuses_file() {
	run "$1" "$ISPOT" report -i "$2"
	refuses "$1" 1 "$3"
}
: >empty.data
refuses_file empty_file empty.data "empty"
refuses_file missing_file no-such.data "no-such.data"
head -c 4096 /dev/urandom >random.data
refuses_file random_file random.data "not an ispot|ispot.data|not a trace"
LC_ALL=C sed 's/isct\x01/isct\x07/g' good.data >other.data
refuses_file other_version other.data "version 7"
size=$(stat -c %s good.data)
head -c $((size * 2 / 3)) good.data >truncated.data
run truncated "$ISPOT" report --json -i truncated.data
is "$status" 0 "truncated: read up to the last whole chunk"
like <(jq -r '.notices[]' truncated.out) 'cut off|truncated' "truncated: said"
# events_body FILE: where the body of the events chunk with the most records starts. A chunk's header is
# never compressed (trace/format.h), so it can be found by its magic, version and kind.
events_body() {
	local at
	LC_ALL=C grep -obUaP 'isct\x01\x00\x02\x00' "$1" | cut -d: -f1 | while read -r at; do
		echo "$(od -An -tu4 -j $((at + 12)) -N 4 "$1") $((at + 48))"
	done | sort -n | awk '{ at = $2 } END { print at }'
}
cp good.data corrupt.data
body=$(events_body good.data)
printf '\377\377\377\377\377\377\377\377' | # the first of them make a block of no type
	dd of=corrupt.data bs=1 seek="${body:-0}" conv=notrunc 2>/dev/null
run corrupt "$ISPOT" report --json -i corrupt.data
[ "$status" = 0 ] || [ "$status" = 1 ]
ok $? "corrupt: no crash" || diag "status $status"
like <(jq -r '.notices[]' corrupt.out) '[0-9] damaged chunk.* with [0-9]+ records' "corrupt: said"
[ "$(jq .trace.lost_records corrupt.out)" -gt 0 ]
ok $? "corrupt: what cannot be read counts as lost"
report good
is "$(jq '.trace.records + .trace.lost_records' corrupt.out)" "$(trace good .records)" \
	"corrupt: read + lost = made"

# ---- nothing stays behind ----
leftovers() {
	cat /sys/kernel/tracing/uprobe_events /sys/kernel/debug/tracing/uprobe_events 2>/dev/null |
		grep -c "[:/]ispot.*$1"
}
is "$(leftovers "$DIR")" 0 "no probe of these runs is left"

done_testing
