#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Java machines that a command starts: those that can load the agent are recorded, all others run as they do
# without ispot. A machine that is told of an agent and cannot load it would not start.
. "$(dirname "$0")/lib.sh"

for tool in java javac; do command -v $tool >/dev/null || skip_all "no JDK is installed: no $tool"; done
"$ISPOT" record --java -o probe.data true 2>probe.err
grep -q 'built without its Java agent' probe.err && skip_all "ispot was built without a JDK's headers"
javac -d . "$ROOT"/microbench/java/Exact.java 2>javac.err || skip_all "javac fails: $(head -1 javac.err)"

calls() { "$ISPOT" report --json -i "$1.data" | jq '[.blocks[] | select(.name | test("^Exact.add")) | .calls] | add // 0'; }
# runs NAME WHAT: it ran as it does alone
runs() {
	is "$status" 9 "$2: it runs, and its status is ispot's" || diag "$1.err"
	like "$1.out" '^calls add 11$' "$2: its output is there"
}

# ---- that can ----

java=$(command -v java)
printf '#!/bin/sh\nexec %s "$@"\n' "$java" >java && chmod +x java
record script --java -- ./java Exact 1 11 9
runs script "a java that is a script"
is "$(calls script)" 11 "and is recorded" || diag script.err
mkdir -p first/java
PATH=$PWD/first:$PATH record named --java -- java Exact 1 11 9
runs named "a java that has a directory of its name before it in PATH"
unlike named.err 'Picked up' "it is given an option"
record options --java -- env JAVA_TOOL_OPTIONS=-Dx=y java Exact 1 11 9
runs options "a machine that has options in its environment"
is "$(calls options)" 11 "and is recorded" || diag options.err
like options.err 'Picked up JAVA_TOOL_OPTIONS: -Dx=y -agentpath:' "with these, too"
# shellcheck disable=SC2016 # for the inner shell
record inner --java -- sh -c 'java Exact 1 11 9; status=$?; echo "options ${JAVA_TOOL_OPTIONS-none}"; exit $status'
is "$(calls inner)" 11 "one that a shell starts"
like inner.out '^options none$' "nothing in the environment tells of an agent"

# ---- that cannot ----

# shellcheck disable=SC2016
record broken --java -- sh -c 'echo no library >"$ISPOT_JAVA/../libispot-java.so"; exec java Exact 1 11 9'
runs broken "an agent that cannot be loaded"
like broken.err '^ispot: this Java program is not recorded: .*libispot-java.so' "and that is said, with the reason"
like broken.err 'no Java machine loaded the agent' "by the recorder as well"

if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
	# shellcheck disable=SC2016
	record hidden --java -- unshare -m sh -c 'mount -t tmpfs none "$ISPOT_JAVA" && exec java Exact 1 11 9'
	runs hidden "in a container that does not see the agent"
	cat >in_root <<-'EOS'
	mkdir -p root/work && mount -t tmpfs none root/work && cp *.class root/work || exit 77
	for d in usr bin lib lib64 etc proc; do
		[ ! -d /$d ] && continue
		mkdir -p root/$d && mount --rbind /$d root/$d || exit 77
	done
	exec chroot root java -cp /work Exact 1 11 9
	EOS
	record root --java -- unshare -m sh in_root
	runs root "in another root"
	like root.err 'no Java machine loaded the agent' "that it is not recorded is said"
else
	skip "in a container, in another root" "they take root and unshare"
fi

# A server that was started under a recorder which is gone starts a machine.
# shellcheck disable=SC2016
"$ISPOT" record --java -o gone.data -- sh -c 'echo $$ >server; while [ ! -e go ]; do sleep 0.1; done
	java Exact 1 11 9 >late.out 2>late.err; echo $? >late.status' >gone.out 2>gone.err &
recorder=$!
children+=("$recorder")
eventually test -s server
children+=("$(cat server)")
kill -9 $recorder
wait $recorder 2>/dev/null
"$ISPOT" record --java -o sweep.data -- true 2>/dev/null # removes what that one has left
touch go
eventually test -s late.status
is "$(cat late.status)" 9 "after the recording, when the agent is gone: it runs" || diag late.err
like late.out '^calls add 11$' "its output is there"

# ---- other programs ----

if command -v musl-gcc >/dev/null; then
	printf '#include <stdio.h>\n#include <stdlib.h>\nint main(void) { return puts(getenv("WORD")) < 0; }\n' >musl.c
	musl-gcc -o musl musl.c
	WORD=there record musl --java -- ./musl
	is "$status/$(cat musl.out)" 0/there "a program of another C library finds its variables" || diag musl.err
else
	skip "a program of another C library" "no musl-gcc"
fi
printf 'int main(void) { return 5; }\n' >asan.c
if gcc -fsanitize=address -o asan asan.c 2>/dev/null && ./asan 2>/dev/null; [ $? = 5 ]; then
	record asan --java -- sh -c ./asan
	is "$status" 5 "a program with AddressSanitizer runs" || diag asan.err
else
	skip "a program with AddressSanitizer" "gcc has none"
fi
is "$(find /dev/shm /var/tmp /tmp -maxdepth 1 -name "ispot-java.$recorder.*" | wc -l)" 0 "nothing is left in shared memory"
done_testing
