#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Java machines of other users: each is attached to as its user, with a directory of its own; one that is hostile
# gets nothing by it, and neither ends nor holds up the recorder.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" = 0 ] || skip_all "needs root: machines of other users are attached to"
needs_helper deaf_machine
needs_command java javac gcc setpriv jq
"$ISPOT" record --java -o probe.data true 2>probe.err
grep -q 'built without its Java agent' probe.err && skip_all "ispot was built without a JDK's headers"
nobody=65534 other=65533
chmod 755 "$DIR"
as() { setpriv --reuid "$1" --regid "$1" --clear-groups "${@:2}"; }

cat >Busy.java <<'EOJ'
public class Busy {
	static final Object lock = new Object();
	static int n;
	static void step() { synchronized (lock) { n++; } }
	public static void main(String[] args) throws Exception {
		for (;;) { step(); Thread.sleep(1); }
	}
}
EOJ
javac Busy.java 2>javac.err || skip_all "javac fails: $(head -1 javac.err)"
chmod 644 ./*.class

# machine UID: one that runs, in $pid
machine() {
	(exec setpriv --reuid "$1" --regid "$1" --clear-groups java -XX:+UseSerialGC -Xmx32m -cp "$DIR" Busy) >"machine.$1" 2>&1 &
	pid=$!
	children+=("$pid")
	for _ in $(seq 200); do
		grep -q libjvm.so /proc/$pid/maps 2>/dev/null && awk '/^SigCgt/ { exit !(("0x" substr($2, 16, 1)) ~ /[4-7c-f]/) }' /proc/$pid/status && break
		sleep 0.05
	done
	sleep 0.5
}

# ---- two users at once ----

machine $nobody
first=$pid
machine $other
second=$pid
"$ISPOT" record --java -p $first,$second -d 1 -o two.data 2>two.err &
recorder=$!
for _ in $(seq 100); do
	place=$(find /dev/shm -maxdepth 1 -name "ispot-java.$recorder.*")
	[ -n "$place" ] && [ -e "$place/$nobody/$first.region" ] && [ -e "$place/$other/$second.region" ] && break
	sleep 0.05
done
is "$(stat -c '%u %a' "$place" "$place"/*.so "$place/$nobody" "$place/$other" | xargs)" \
	"0 711 0 755 0 755 $nobody 711 $other 711" "the agent is root's, and each user has a directory of its own" ||
	diag two.err "$(ls -la "$place")"
as $nobody touch "$place/x" "$place/$other/x" "$place/libispot-java.so" 2>touch.err
as $nobody sh -c "echo x >$place/libispot-java.so" 2>>touch.err
as $nobody rm -f "$place/$other/$second.region" 2>>touch.err
is "$(grep -c -i denied touch.err)" 5 "neither user can change the agent, or what is another's" || diag touch.err
wait $recorder
is $? 0 "machines of two users: status" || diag two.err
is "$("$ISPOT" report --json -i two.data | jq '[.threads[] | select(.sci != null) | .pid] | unique | length')" 2 \
	"both are recorded" || diag two.err
is "$(find /dev/shm -maxdepth 1 -name "ispot-java.$recorder.*")" "" "nothing is left behind"

# ---- memory that is taken away ----

kill $first $second # a machine loads the agent once
machine $nobody
first=$pid
"$ISPOT" record --java -p $first -d 3 -o torn.data 2>torn.err &
recorder=$!
for _ in $(seq 100); do
	region=$(find /dev/shm/ispot-java.$recorder.*/$nobody -name '*.region' 2>/dev/null)
	[ -n "$region" ] && break
	sleep 0.05
done
sleep 0.5
as $nobody truncate -s 0 "$region"
wait $recorder
is $? 0 "a machine that cuts its shared memory does not end the recorder" || diag torn.err
like torn.err "1 process took away the memory" "and that is said"
is "$("$ISPOT" report --json -i torn.data | jq '.trace.calls > 0')" true "what was read before is kept" || diag torn.err
kill $first 2>/dev/null # its agent's memory is gone

# ---- a machine that is none ----

# hostile HOW: waits for SIGQUIT as a machine does; $pid
cat >hostile.c <<'EOC'
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
static void on_quit(int n) { (void)n; }
int main(int argc, char **argv)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int jvm = open("libjvm.so", O_RDONLY), s, c;
	char byte;

	signal(SIGQUIT, on_quit);
	if (argc < 3 || mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, jvm, 0) == MAP_FAILED)
		return 1;
	puts("ready");
	fflush(stdout);
	pause();
	snprintf(a.sun_path, sizeof(a.sun_path), "/tmp/.java_pid%d", getpid());
	if (!strcmp(argv[1], "link")) {
		symlink(argv[2], a.sun_path);
		for (;;)
			pause();
	}
	if (!strcmp(argv[1], "other") && fork())
		for (;;)
			pause();
	s = socket(AF_UNIX, SOCK_STREAM, 0);
	bind(s, (struct sockaddr *)&a, sizeof(a));
	chmod(a.sun_path, 0600);
	listen(s, 1);
	c = accept(s, NULL, NULL);
	if (!strcmp(argv[1], "other") && read(c, &byte, 1) > 0)
		close(open("spoken", O_CREAT | O_WRONLY, 0600));
	close(open("asked", O_CREAT | O_WRONLY, 0600));
	for (;;) {
		send(c, "0", 1, MSG_NOSIGNAL);
		sleep(1);
	}
}
EOC
mkdir own && chmod 777 own && gcc -o own/hostile hostile.c 2>gcc.err && head -c 4096 /dev/zero >own/libjvm.so && chmod 666 own/libjvm.so
hostile() {
	(cd own && exec setpriv --reuid $nobody --regid $nobody --clear-groups ./hostile "$1" "$2") >hostile.out 2>hostile.err &
	pid=$!
	children+=("$pid")
	for _ in $(seq 100); do
		grep -q ready hostile.out && return
		sleep 0.05
	done
}

# The socket of another user's machine, which was attached to before, behind a link of its name.
machine 0
victim=$pid
"$ISPOT" record --java -p $victim -d 0.2 -o victim.data 2>victim.err
is "$([ -S /tmp/.java_pid$victim ] && echo yes)" yes "a machine of root's listens" || diag victim.err
hostile link /tmp/.java_pid$victim
timeout 60 "$ISPOT" record --java -p "$pid" -d 1 -o link.data 2>link.err
is "$?" 125 "a link to another machine's socket is no answer" || diag link.err
rm -f "/tmp/.java_pid$pid"
like link.err "does not answer" "and the machine that it leads to is not spoken to"
kill "$pid"

# Another process of the same user listens in its place.
hostile other none
timeout 60 "$ISPOT" record --java -p "$pid" -d 1 -o other.data 2>other.err
is "$?" 125 "another process's socket is no answer" || diag other.err
is "$([ -e own/asked ] && echo asked)$([ -e own/spoken ] && echo spoken)" asked "and not a byte is said to it" || diag other.err
rm -f "/tmp/.java_pid$pid" own/asked own/spoken
pkill -P "$pid"
kill "$pid"

# An answer that never ends; ispot is told to end.
hostile slow none
"$ISPOT" record --java -p "$pid" -d 1 -o slow.data 2>slow.err &
recorder=$!
for _ in $(seq 200); do
	[ -e own/asked ] && break
	sleep 0.05
done
is "$([ -e own/asked ] && echo yes)" yes "a machine whose answer never ends was asked" || diag slow.err hostile.err
kill -TERM $recorder
ended=no
for _ in $(seq 100); do
	kill -0 $recorder 2>/dev/null || { ended=yes && break; }
	sleep 0.05
done
is $ended yes "SIGTERM ends a recorder that waits for it" || kill -9 $recorder
wait $recorder 2>/dev/null
is "$(find /dev/shm -maxdepth 1 -name "ispot-java.$recorder.*")" "" "and nothing is left behind"
rm -f "/tmp/.java_pid$pid"
kill "$pid"

# ---- nothing is left in the machine's root ----

# A machine that does not open its socket: the recorder is ended while it waits.
cp "$HELPERS/deaf_machine" own/deaf
# deaf UID
deaf() {
	(cd own && exec setpriv --reuid "$1" --regid "$1" --clear-groups ./deaf) >deaf.out 2>deaf.err &
	pid=$!
	children+=("$pid")
	eventually grep -q ready deaf.out
}
for signal in TERM KILL; do
	deaf $nobody
	"$ISPOT" record --java -p "$pid" -d 1 -o deaf.data 2>deaf.err &
	recorder=$!
	asked() { [ -e "/tmp/.attach_pid$pid" ]; }
	eventually asked
	is $? 0 "$signal: the machine is being asked"
	child=$(pgrep -P $recorder | head -1)
	if [ $signal = TERM ]; then
		is "$(awk '/^Uid|^CapEff/ { printf "%s ", $2 }' /proc/"$child"/status)" "$nobody 0000000000000000 " \
			"by a child of its user, without capabilities"
		is "$(find /proc/"$child"/fd -type l | wc -l)" 5 "which holds no other descriptors" || diag "$(ls -l /proc/"$child"/fd)"
		is "$(as $nobody cat /proc/"$child"/environ 2>&1 | grep -c 'Permission denied')" 1 "and into which that user cannot look"
	fi
	kill -$signal $recorder
	wait $recorder 2>/dev/null
	not_asked() { ! asked; }
	eventually not_asked
	is $? 0 "$signal: the file that asked is gone" || rm -f "/tmp/.attach_pid$pid"
	kill "$pid"
done
deaf 0
"$ISPOT" record --java -p "$pid" -d 1 -o root.data 2>root.err &
recorder=$!
eventually asked
child=$(pgrep -P $recorder | head -1)
is "$(awk '/^CapEff/ { print $2 }' /proc/"$child"/status)" 0000000000000000 "a machine of root's: without capabilities, too"
kill -TERM $recorder
wait $recorder 2>/dev/null
kill "$pid"

# A file that another tool has left there.
machine $nobody
first=$pid
as $nobody touch "/tmp/.attach_pid$first"
"$ISPOT" record --java -p $first -d 0.5 -o left.data 2>left.err
is $? 0 "a file that its user has left there does not stand in the way" || diag left.err
is "$([ -e "/tmp/.attach_pid$first" ] && echo there)" "" "and is gone" || rm -f "/tmp/.attach_pid$first"
kill $first

# ---- all machines or none ----

machine $nobody
first=$pid
deaf $nobody
second=$pid
"$ISPOT" record --java -p $first,$second -d 1 -o half.data 2>half.err &
recorder=$!
region=
loaded() { region=$(find /dev/shm/ispot-java.$recorder.*/$nobody -name "$first.region" 2>/dev/null) && [ -n "$region" ]; }
eventually loaded
exec 7<"$region"
wait $recorder
is $? 125 "the second machine cannot be attached to" || diag half.err
# The word that says whether records are wanted stands behind the header's 64 bytes.
is "$(od -An -tu4 -j64 -N4 /dev/fd/7 | tr -d ' ')" 0 "the first does not go on recording"
exec 7<&-
kill $first $second

done_testing
