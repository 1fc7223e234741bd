#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Programs that probes could break behave as they do alone, and all of their calls are counted.
. "$(dirname "$0")/lib.sh"
needs_probes
needs_helper hostile hostile_cxx
H=$HELPERS/hostile

# unharmed NAME COMMAND...: output and status as alone with everything traced; calls as it says
unharmed() {
	local name=$1
	shift
	"$@" >"$name.alone" 2>/dev/null </dev/null
	local alone=$?
	record "$name" -F '*' -- "$@" </dev/null
	is "$status" "$alone" "$name: status $alone" || diag "$name.err"
	cmp -s "$name.alone" "$name.out"
	ok $? "$name: output" || diag "$name.out"
	grep -q '^expect' "$name.alone" || return
	report "$name"
	matches_truth "$name" calls
	nothing_lost "$name"
}

unharmed thread_exit "$H" thread_exit 101
unharmed cancel_blocked "$H" cancel_blocked 50
unharmed signal_jump "$H" signal_jump 101
unharmed return_address "$H" return_address 11
unharmed deep "$H" deep 2
unharmed tail "$H" tail 3
unharmed threads "$H" threads 1000
unharmed forks "$H" forks 200
unharmed vforks "$H" vforks 200
unharmed execs "$H" execs 20
unharmed strict "$H" strict 101
unharmed filter "$H" filter 101
unharmed unwinding "${H}_cxx"

# Events that are inherited twice: until 6.13 the kernel may take a descendant's breakpoints out.
if [ "$(printf '%s\n' 6.13 "$(uname -r)" | sort -V | head -1)" = 6.13 ]; then
	for i in 1 2 3 4; do
		record "grandchildren$i" -F one_step -- timeout 60 "$H" forks 50
		report "grandchildren$i"
		matches_truth "grandchildren$i" calls
	done
else
	skip "children of children" "kernels before 6.13 lose probes there"
fi

# ---- kinds of files ----

if command -v "${CC:-cc}" >/dev/null; then
	for kind in -pie -no-pie -static-pie -static; do
		flags=(-O1 -g -pthread "$kind")
		[ "$kind" != -pie ] || flags+=(-fPIE)
		[ "$kind" != -no-pie ] && [ "$kind" != -static ] || flags+=(-fno-pie)
		if "${CC:-cc}" -w -D_GNU_SOURCE -I"$ROOT" "${flags[@]}" -o "kind$kind" \
			"$ROOT/tests/live/hostile.c" 2>/dev/null; then
			record "kind$kind" -F one_step -- "./kind$kind" steps 101
			report "kind$kind"
			matches_truth "kind$kind" calls
		else
			skip "$kind" "it cannot be linked here"
		fi
	done
else
	skip "kinds of programs" "no compiler"
fi

if [ "$(find -L /lib /usr/lib -maxdepth 2 -name libz.so.1 2>/dev/null | head -1)" ]; then
	record reload -F one_step -F libz:crc32 -- "$H" reload 11
	report reload
	matches_truth reload calls
else
	skip "dlopen and dlclose" "no libz.so.1"
fi

# ---- privileges and namespaces ----

cp "$H" setuid && chown nobody setuid && chmod u+s setuid && chmod 755 "$DIR"
record setuid -F one_step -- ./setuid steps 11
is "$status" 0 "set-uid: status"
like setuid.out '^expect block=one_step calls=11$' "set-uid: output"

if unshare -m -p -f true 2>/dev/null; then
	record namespaces -F one_step -- unshare -m -p -f "$H" steps 11
	report namespaces
	matches_truth namespaces calls
else
	skip "another mount and PID namespace" "unshare is not allowed here"
fi

# ---- attached ----

# attached NAME PID COUNT: records the waiting program, lets it go on by a line, and counts
attached() {
	"$ISPOT" record -v -o "$1.data" -p "$2" -F one_step 2>"$1.err" &
	local recorder=$! calls
	children+=("$recorder")
	eventually begun "$1"
	echo >&7
	wait "$recorder"
	is $? 0 "$1: status" || diag "$1.err"
	report "$1"
	calls=$(block "$1" one_step .calls)
	is "$calls" "$3" "$1: calls" || diag "$1.err"
}

# waiting COMMAND...: starts it with its stdin at descriptor 7
waiting() {
	rm -f line
	mkfifo line
	"$@" <line >waiting.out 2>&1 &
	waiter=$!
	children+=("$waiter")
	exec 7>line
	eventually grep -q waiting waiting.out
}

cp "$H" replaced
waiting ./replaced waiting 11
cp "$MB/exact" other && mv other replaced
attached replaced "$waiter" 11
exec 7>&-

# A container's program, whose file nobody else sees: at its path there is nothing for us, or another program.
cp "$MB/exact" bound
mkdir hidden
contained() {
	waiting unshare -m -p -f sh -c "$2"
	attached "$1" "$(pgrep -P "$waiter")" 11
	exec 7>&-
	wait "$waiter"
}
if unshare -m -p -f mount --bind "$H" bound 2>/dev/null; then
	contained "a container, another program there" "mount --bind '$H' bound && exec ./bound waiting 11"
	contained "a container, nothing there" \
		"mount -t tmpfs none hidden && cp '$H' hidden/ && exec hidden/hostile waiting 11"
else
	skip "containers" "unshare and mount are not allowed here"
fi

if command -v gdb >/dev/null; then
	cp "$H" debugged
	waiting gdb -nx -batch -ex 'break case_steps' -ex run -ex bt -ex continue --args ./debugged waiting 11
	attached gdb "$(pgrep -P "$waiter" debugged)" 11
	exec 7>&-
	wait "$waiter"
	like waiting.out 'Breakpoint 1,.* case_steps' "gdb: its breakpoint is hit"
	like waiting.out 'exited normally' "gdb: the program ends"
else
	skip "under gdb" "no gdb"
fi

# ---- machines that manage their own stacks ----

cat >Sum.java <<'END'
public class Sum {
	public static void main(String[] a) { long s = 0; for (int i = 0; i < 101; i++) s += ProcessHandle.current().parent().isPresent() ? 1 : 0; System.out.println("sum " + s); }
}
END
# Each calls getppid 101 times.
runs() {
	local name=$1
	shift
	if ! command -v "$1" >/dev/null || ! "$@" >"$name.alone" 2>/dev/null; then
		skip "$name" "not here"
		return
	fi
	record "$name" -F libc:getppid -F libc:malloc -- "$@"
	is "$status" 0 "$name: status" || diag "$name.err"
	cmp -s "$name.alone" "$name.out"
	ok $? "$name: output" || diag "$name.out"
	report "$name"
	is "$(block "$name" getppid .calls)" 101 "$name: calls" || diag "$name.err"
}
command -v javac >/dev/null && javac Sum.java 2>/dev/null
runs java java -cp . Sum
runs node node -e 'let s = 0; for (let i = 0; i < 101; i++) s += process.ppid > 0; console.log("sum", s)'
# python3 may be a script that chooses one.
python=$(python3 -c 'import sys; print(sys.executable)')
runs python "${python:-python3}" -c 'import os; print("sum", sum(os.getppid() > 0 for _ in range(101)))'

done_testing
