#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Between the look at a Java machine and what is done to it something else takes its place: its socket is another
# process's, in a container and outside of one, or its process number is.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" = 0 ] || skip_all "needs root: machines of other users are attached to"
needs_helper deaf_machine
needs_command java javac gcc setpriv unshare
unshare -mpf --mount-proc true 2>unshare.err || skip_all "no namespaces: $(head -1 unshare.err)"
"$ISPOT" record --java -o probe.data true 2>probe.err
grep -q 'built without its Java agent' probe.err && skip_all "ispot was built without a JDK's headers"
[[ $DIR/ != /tmp/* ]] || skip_all "the machines have a /tmp of their own: set TMPDIR"
nobody=65534 other=65533
chmod 755 "$DIR"

# ---- the socket ----

cat >Busy.java <<'EOJ'
public class Busy {
	static int n;
	static synchronized void step() { n++; }
	public static void main(String[] args) throws Exception {
		for (;;) { step(); Thread.sleep(1); }
	}
}
EOJ
javac Busy.java 2>javac.err || skip_all "javac fails: $(head -1 javac.err)"
chmod 644 ./*.class

# listens PATH MARK: puts a socket of its own there, again and again; MARK is made when somebody speaks to it
cat >listens.c <<'EOC'
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	char byte;

	if (argc < 3)
		return 1;
	snprintf(a.sun_path, sizeof(a.sun_path), "%s.new", argv[1]);
	for (unsigned n = 0;; n++) {
		struct pollfd p = { .fd = socket(AF_UNIX, SOCK_STREAM, 0), .events = POLLIN };
		int c;

		unlink(a.sun_path);
		if (bind(p.fd, (struct sockaddr *)&a, sizeof(a)) || chmod(a.sun_path, 0600) || listen(p.fd, 8))
			return 1;
		rename(a.sun_path, argv[1]);
		if (!n) {
			puts("listens");
			fflush(stdout);
		}
		while (poll(&p, 1, n % 2 ? 1 : 30) > 0) {
			c = accept(p.fd, NULL, NULL);
			if (c >= 0 && read(c, &byte, 1) > 0)
				close(open(argv[2], O_CREAT | O_WRONLY, 0600));
			close(c);
		}
		close(p.fd);
	}
}
EOC
gcc -O1 -o listens listens.c 2>gcc.err || skip_all "gcc fails: $(head -1 gcc.err)"
mkdir -m 777 said

# inside: of a container, as its first process does
# shellcheck disable=SC2016 # for the container's shell
contained='mount -t tmpfs -o mode=1777 none /tmp && cd '"$DIR"' || exit
	setpriv --reuid '$nobody' --regid '$nobody' --clear-groups java -XX:+UseSerialGC -Xmx32m -cp . Busy >machine.out 2>&1 &
	machine=$!
	if [ $1 != none ]; then
		setpriv --reuid $1 --regid $1 --clear-groups ./listens /tmp/.java_pid$machine said/$1 >listens.out 2>&1 &
	fi
	wait $machine'
is_ready() {
	pid=$(pgrep -P "$first" -x java) && grep -q libjvm.so "/proc/$pid/maps" &&
		awk '/^SigCgt/ { exit !(("0x" substr($2, 16, 1)) ~ /[4-7c-f]/) }' "/proc/$pid/status"
}
# container ATTACKER: a machine in one, as $pid; the attacker beside it puts his socket in its place
container() {
	rm -f listens.out
	unshare -mpf --kill-child --mount-proc bash -c "$contained" bash "$1" >container.out 2>&1 &
	unshared=$!
	children+=("$unshared")
	begun() { first=$(pgrep -P "$unshared") && is_ready; }
	eventually begun || diag container.out machine.out
	[ "$1" = none ] || eventually grep -q listens listens.out
}
# with its first process all others end
ends() { kill -KILL "$unshared" && wait "$unshared"; } 2>/dev/null

container none
timeout 100 "$ISPOT" record --java -p "$pid" -d 0.5 -o alone.data 2>alone.err
is $? 0 "a machine in a container is recorded" || diag alone.err container.out
ends
for attacker in $nobody $other; do
	container "$attacker"
	timeout 100 "$ISPOT" record --java -p "$pid" -d 0.5 -o "by.$attacker.data" 2>"by.$attacker.err"
	got=$?
	# The machine itself puts its socket there when it is asked: it may be quicker.
	[ $got = 0 ] || { [ $got = 125 ] && grep -q 'does not answer' "by.$attacker.err"; }
	ok $? "a socket in its place, of user $attacker in the container: the machine is recorded, or nothing" ||
		diag "by.$attacker.err" container.out
	is "$(ls said)" "" "and not a byte is said to it" && kill -0 "$pid"
	ok $? "the machine lives"
	ends
done

# ---- the number ----

# In ispot, when its child goes into the root of the machine: that ends, and another process gets its number. What
# that child makes stays.
cat >swap.c <<'EOC'
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int chroot(const char *path)
{
	pid_t pid = atoi(getenv("SWAPPED"));
	struct clone_args how = { .exit_signal = SIGCHLD, .set_tid = (uint64_t)(uintptr_t)&pid, .set_tid_size = 1 };
	long ret;

	kill(pid, SIGKILL);
	while (!kill(pid, 0) || errno != ESRCH)
		usleep(1000);
	ret = syscall(SYS_clone3, &how, sizeof(how));
	if (!ret) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	close(open(ret == pid ? "swapped" : "not-swapped", O_CREAT | O_WRONLY, 0600));
	return syscall(SYS_chroot, path);
}
int unlink(const char *path)
{
	return strstr(path, ".attach_pid") ? 0 : syscall(SYS_unlink, path);
}
EOC
head -c 4096 /dev/zero >libjvm.so
if grep -q __asan_init "$ISPOT"; then
	skip "a number that another process has by then" "a build with sanitizers preloads nothing"
elif cp "$HELPERS/deaf_machine" machine && gcc -shared -fPIC -o swap.so swap.c 2>gcc.err; then
	cp "$ISPOT" ispot # it may be in /tmp
	# shellcheck disable=SC2016
	unshare -mpf --kill-child --mount-proc bash -c 'mount -t tmpfs -o mode=1777 none /tmp && cd "$1" || exit
		setpriv --reuid '$nobody' --regid '$nobody' --clear-groups ./machine >machine.out &
		for _ in $(seq 1000); do grep -q ready machine.out && break; sleep 0.1; done
		SWAPPED=$! LD_PRELOAD=$1/swap.so "$2" record --java -p $! -d 0.5 -o number.data 2>number.err
		echo $? >number.status
		find /tmp -name ".attach_pid*" >number.made' bash "$DIR" "$DIR/ispot" >unshare.out 2>unshare.err
	if [ -e swapped ]; then
		is "$(cat number.status)" 125 "a number that another process has by then: nothing is recorded" || diag number.err
		is "$(cat number.made)" "" "nothing is made in that process's root" || diag number.err
		like number.err 'No such process' "and the machine is gone" || diag number.err
	elif [ ! -e not-swapped ]; then
		ok 1 "a number that another process has by then: its root is entered" || diag number.err unshare.err
	else
		skip "a number that another process has by then" "no process may choose its number"
	fi
else
	skip "a number that another process has by then" "gcc fails: $(head -1 gcc.err)"
fi

done_testing
