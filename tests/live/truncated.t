#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A target that cuts its own files while ispot looks at them, or names a debug file that cannot be
# read to its end, neither ends nor hangs a recording: it ends in order, its file reads, and no probe
# is left behind.
. "$(dirname "$0")/lib.sh"
needs_probes
needs_command "${CC:=cc}" setpriv unshare getent truncate objcopy timeout
getent passwd nobody >/dev/null || skip_all "there is no user nobody"
user=$(id -u nobody)
chmod 755 "$DIR"
mkdir theirs && chown "$user" theirs && cd theirs || exit 1

# The library calls the program back, which never returns to it: it is in all stacks, but that it is
# cut harms ispot only.
cat >lib.c <<'EOF'
__attribute__((noinline)) int lib_call(int (*back)(void)) { return back() + 1; }
EOF
seq 2000 | awk '{ print "int lib_more_" $1 "(int n) { return n * " $1 "; }" }' >>lib.c
cat >app.c <<'EOF'
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>
__attribute__((noinline, noclone)) int work(int n) { __asm__ volatile("" : "+r"(n)); return n; }
static int back(void)
{
	for (int i = 0; ; i++) {
		work(i);
		usleep(1000);
	}
}
int main(int argc, char **argv)
{
	void *lib = dlopen(argv[argc - 1], RTLD_NOW);
	int (*call)(int (*)(void)) = lib ? dlsym(lib, "lib_call") : NULL;
	return call ? call(back) : 1;
}
EOF
{ "$CC" -g -O1 -shared -fPIC -o lib.so lib.c && "$CC" -g -O1 -o app app.c -ldl; } ||
	skip_all "${CC} makes no such programs"
cp lib.so lib.whole
chown "$user" lib.so app
as=(setpriv --reuid "$user" --regid "$user" --clear-groups)

# Files of others are named to the kernel by their descriptors: the recorder's events bear its lock's name.
group_of() { find "/proc/$1/fd" -lname '/run/ispot/*.lock*' -printf '%l\n' 2>/dev/null | sed -n '1s|.*/\([0-9a-f]*\)[.]lock.*|\1|p'; }
ours() { grep -c ":ispot_${group:-none}/" /sys/kernel/tracing/uprobe_events 2>/dev/null; }

# cut NAME HOW RECORD-ARGS...: records the program, whose library HOW changes meanwhile
cut_while_recorded() {
	local name=$1 how=$2
	shift 2
	cat lib.whole >lib.so
	"${as[@]}" ./app ./lib.so &
	local target=$!
	children+=("$target")
	eventually grep -q lib.so "/proc/$target/maps"
	"$ISPOT" record -o "$name.data" -p "$target" "$@" >"$name.out" 2>"$name.err" &
	local recorder=$!
	children+=("$recorder")
	eventually begun "$name"
	ok $? "$name: it has begun" || diag "$name.err"
	group=$(group_of "$recorder")
	[ "$(ours)" -gt 0 ]
	ok $? "$name: it has probes"
	"${as[@]}" sh -c "$how"
	sleep 0.5
	kill -INT "$recorder"
	wait "$recorder"
	is "$?" 0 "$name: the recording ends in order" || diag "$name.err"
	kill "$target"
	wait "$target" 2>/dev/null
	report "$name"
	ok $? "$name: and reads" || diag "$name.report-err"
	[ "$(block "$name" work .calls)" != 0 ]
	ok $? "$name: with its calls" || diag "$name.json"
	is "$(ours)" 0 "$name: no probe is left behind"
}

cut_while_recorded truncated 'truncate -s 0 lib.so' -F work -F lib_call
cut_while_recorded stacks 'truncate -s 0 lib.so' -F work -g dwarf
cut_while_recorded everything 'truncate -s 0 lib.so'
cut_while_recorded halved 'truncate -s 5000 lib.so' -F work -F lib_call -g dwarf

# A container's root may write what root's mode and owner say is root's alone.
if unshare --user --map-root-user --mount true 2>/dev/null; then
	chown 0 lib.so app
	as=(unshare --user --map-root-user --mount)
	cut_while_recorded container 'truncate -s 0 lib.so' -F work -F lib_call -g dwarf
	chown "$user" lib.so app
else
	skip "a container's root" "unshare makes no namespaces here"
fi

# ---- debug files that nobody finishes reading ----

mkfifo app.debug
objcopy --strip-all app stripped
printf 'app.debug\0\0\0\1\2\3\4' >link.section
objcopy --add-section .gnu_debuglink=link.section stripped linked
chown "$user" app.debug linked
timeout 60 "$ISPOT" check -F main ./linked >linked.out 2>linked.err
is "$?" 1 "a debug link to a FIFO: check ends" || diag linked.err
like linked.err "stripped|no function" "and says what it has found" || diag linked.err
cat lib.whole >lib.so
setpriv --reuid "$user" --regid "$user" --clear-groups ./linked ./lib.so &
children+=($!)
started $! linked
timeout -s INT -k 10 20 "$ISPOT" record -o linked.data -p $! -F libc:usleep -d 1 >linked.out 2>linked.err
is "$?" 0 "and so does a recording of the process" || diag linked.err

# ---- a parser that its file's owner keeps from the CPU, without stopping it ----

# Seized as by a debugger, so that whoever waits for it does not see it stopped.
cat >seize.py <<'EOF'
import ctypes, os, sys
libc = ctypes.CDLL(None)
libc.ptrace.argtypes = [ctypes.c_long] * 4
pid = int(sys.argv[1])
if libc.ptrace(0x4206, pid, 0, 0) or libc.ptrace(0x4207, pid, 0, 0):
    sys.exit(1)
os.waitpid(pid, 0x40000000)
print("held", flush=True)
os.waitpid(pid, 0x40000000)
EOF
if command -v python3 >/dev/null; then
	setpriv --reuid "$user" --regid "$user" --clear-groups ./app ./lib.so &
	children+=($!)
	started $! app
	"$ISPOT" record -v -o slow.data -p $! -F work -g dwarf -d 2 >slow.out 2>slow.err &
	recorder=$!
	children+=("$recorder")
	eventually begun slow
	for parser in $(pgrep -P "$recorder" -u "$user"); do
		python3 seize.py "$parser" >"held.$parser" 2>&1 &
		children+=($!)
		eventually grep -q held "held.$parser"
	done
	for ((i = 0; i < 70; i++)); do [ ! -e "/proc/$recorder/exe" ] || sleep 1; done
	[ ! -e "/proc/$recorder/exe" ]
	ok $? "a recording of 2 s ends in time though parsers do not answer" || kill "$recorder"
	wait "$recorder"
	is "$?" 0 "it ends in order" || diag slow.err
	like slow.err 'could not be read to its end' "and says what is left out" || diag slow.err
	report slow
	[ "$(block slow work .calls)" != 0 ]
	ok $? "it has its calls" || diag slow.json
else
	skip "parsers that do not answer" "no python3"
fi
done_testing
