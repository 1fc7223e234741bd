#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A user's file system that takes questions and never answers: no signal ends a process that waits for it, and no
# recorder does.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" = 0 ] || skip_all "needs root: programs of other users are recorded"
needs_helper deaf_machine
needs_command gcc setpriv unshare python3 objcopy strip pgrep timeout umount
[ -w /dev/fuse ] || skip_all "no /dev/fuse"
[[ $DIR/ != /tmp/* ]] || skip_all "a machine has a /tmp of its own: set TMPDIR"
chmod 755 "$DIR"

# silent.py DIRECTORY: mounted there, as nobody's, until it ends. A file "page" can be opened; nothing else is answered.
cat >silent.py <<'EOP'
import ctypes, os, struct, sys
fd = os.open("/dev/fuse", os.O_RDWR)
libc = ctypes.CDLL(None, use_errno=True)
if libc.mount(b"silent", sys.argv[1].encode(), b"fuse", 0,
              b"fd=%d,rootmode=40000,user_id=65534,group_id=65534" % fd):
    sys.exit(os.strerror(ctypes.get_errno()))
LOOKUP, GETATTR, OPEN, INIT = 1, 3, 14, 26
def attr(node):  # the file's number is 0, as that of memory without a file
    return struct.pack("<QQQQQQIIIIIIIIII", 1 if node == 1 else 0, 65536, 128, 0, 0, 0, 0, 0, 0,
                       0o40755 if node == 1 else 0o100755, 1, 65534, 65534, 0, 4096, 0)
while True:
    request = os.read(fd, 1 << 20)
    length, opcode, unique, node = struct.unpack_from("<IIQQ", request)
    body = request[40:]
    if opcode == INIT:
        answer = struct.pack("<IIIIHHIIHHI28x", 7, 31, 65536, 0, 16, 16, 65536, 1, 0, 0, 0)
        print("mounted", flush=True)
    elif opcode == LOOKUP and body.startswith(b"page\0"):
        answer = struct.pack("<QQQQII", 2, 1, 3600, 3600, 0, 0) + attr(2)
    elif opcode == GETATTR:
        answer = struct.pack("<QII", 3600, 0, 0) + attr(node)
    elif opcode == OPEN:
        answer = struct.pack("<QII", 1, 0, 0)
    else:
        print("asked", opcode, flush=True)
        continue
    os.write(fd, struct.pack("<IiQ", 16 + len(answer), 0, unique) + answer)
EOP
mkdir mounted && unshare -m timeout 10 sh -c 'python3 silent.py mounted >silent.out 2>silent.err &
	for _ in 1 2 3 4 5 6 7 8 9 10; do grep -q mounted silent.out && break; sleep 0.2; done; kill $!'
grep -q mounted silent.out || skip_all "nothing can be mounted: $(head -1 silent.err)"

# ends_by_itself NAME SECONDS COMMAND...: what others are asked by it has no answer, and it ends all the same
ends_by_itself() {
	local name=$1
	timeout -k 1 "$2" "${@:3}" >"$name.out" 2>"$name.err"
	got=$?
	[ $got != 124 ] && [ $got != 137 ]
	ok $? "$name: ispot ends" || diag "$name.err"
}
asked() { grep -q asked silent.out; }

# silently COMMAND...: beside that file system, as $first's child
silently() {
	: >silent.out
	: >ready.out
	# shellcheck disable=SC2016
	unshare -m bash -c 'python3 silent.py "$1" >silent.out 2>silent.err &
		until grep -q mounted silent.out || ! kill -0 $!; do sleep 0.1; done
		setpriv --reuid 65534 --regid 65534 --clear-groups "${@:2}" >ready.out & wait' bash "$@" &
	first=$!
	children+=("$first")
	eventually grep -q ready ready.out
	pid=$(pgrep -P $first "$(basename "$2" | cut -c1-15)")
	: >silent.out
}
# Without its server the file system answers whoever waits.
over() {
	kill "$(pgrep -P $first python3)" "$pid"
	wait $first
} 2>/dev/null

# ---- a process whose memory is of it ----

cat >mapped.c <<'EOC'
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
/* Its second word is long: a page of it, besides the first, and some code are what the file has. */
__attribute__((noinline)) static int step(int n) { return n * 3 + (int)getpid(); }
int main(int argc, char **argv)
{
	char *page = (char *)(((uintptr_t)argv[1] + 4096) & ~4095ul);
	int fd = open("mounted/page", O_RDONLY), n = 0;

	if (argc < 2 || fd < 0 || mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED ||
	    mmap(page, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED)
		return 1;
	puts("ready");
	fflush(stdout);
	for (;;) {
		n = step(n);
		usleep(1000);
	}
}
EOC
gcc -O1 -o mapped mapped.c 2>gcc.err || skip_all "gcc fails: $(head -1 gcc.err)"
silently mounted ./mapped "$(printf '%020000d' 0)"
ends_by_itself "a process whose words and code are of it" 60 "$ISPOT" record -F step -p "$pid" -d 0.2 -o mapped.data
is "$got" 0 "which has recorded it" || diag "a process whose words and code are of it.err"
! asked
ok $? "and has asked for neither" || diag silent.out
over

# ---- a Java machine's /tmp ----

"$ISPOT" record --java -o probe.data true 2>probe.err
if grep -q 'built without its Java agent' probe.err; then
	skip "a Java machine whose /tmp is of it" "ispot was built without a JDK's headers"
else
	cp "$HELPERS/deaf_machine" machine && head -c 4096 /dev/zero >libjvm.so
	silently /tmp ./machine
	"$ISPOT" record --java -p "$pid" -d 1 -o machine.data >machine.out 2>machine.err &
	recorder=$!
	children+=("$recorder")
	eventually asked
	is $? 0 "a Java machine whose /tmp is of it: it is asked" || diag machine.err silent.out
	kill -TERM $recorder
	for _ in $(seq 300); do
		kill -0 $recorder 2>/dev/null || break
		sleep 0.1
	done
	! kill -0 $recorder 2>/dev/null
	ok $? "and SIGTERM ends ispot" || kill -9 $recorder
	wait $recorder 2>/dev/null
	is "$(find /dev/shm -maxdepth 1 -name "ispot-java.$recorder.*")" "" "which leaves nothing behind"
	over
fi

# ---- where a program's debug file may be ----

mkdir theirs && chmod 755 theirs && gcc -g -O1 -o theirs/program mapped.c && objcopy --only-keep-debug theirs/program theirs/x.debug &&
	strip theirs/program && (cd theirs && objcopy --add-gnu-debuglink=x.debug program) && rm theirs/x.debug &&
	mkdir theirs/.debug && chown -R 65534:65534 theirs
# In a place of its own, as above; ispot is in it.
# shellcheck disable=SC2016
ends_by_itself "a directory for debug files" 60 unshare -m bash -c 'python3 silent.py theirs/.debug >silent.out 2>silent.err &
	until grep -q mounted silent.out || ! kill -0 $!; do sleep 0.1; done
	: >silent.out
	"$1" check -F step theirs/program
	status=$?
	kill $!
	exit $status' bash "$ISPOT"
asked
ok $? "which was looked into" || diag "a directory for debug files.err"

done_testing
