#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Java's monitors are locks: who waited for which one, where, how long and who held it meanwhile, against what the
# program says of itself by its own clock.
# shellcheck disable=SC2016 # names of nested classes
. "$(dirname "$0")/lib.sh"

for tool in java javac; do command -v $tool >/dev/null || skip_all "no JDK is installed: no $tool"; done
"$ISPOT" record --java -o probe.data true 2>probe.err
grep -q 'built without its Java agent' probe.err && skip_all "ispot was built without a JDK's headers"
javac -d . "$ROOT"/microbench/java/Monitors.java 2>javac.err || skip_all "javac fails: $(head -1 javac.err)"

# said WHICH WHAT: by the program
said() { awk -v which="$1" -v what="$2" '$2 == which { for (i = 3; i < NF; i += 2) if ($i == what) print $(i + 1) }' program.out; }
# of NAME JQ: of the lock whose name matches
of() { jq -c --arg p "$1" "[.blocks[] | select(.kind == \"lock\" and (.name | test(\$p)))] | $2" locks.json; }
# place METHOD: as ispot names what matches, with its line
place() { grep -oE "Monitors[$.A-Za-z]*\.$1\([A-Za-z]*\) \(Monitors.java:[0-9]+\)" <<<"$2" | head -1; }

record program --java -- java Monitors
is "$status" 0 "status" || diag program.err
"$ISPOT" report --by lock --json -i program.data >locks.json 2>locks.err
is $? 0 "the recording has locks" || diag locks.err
is "$(jq .trace.lost_records locks.json)" 0 "nothing was lost"

hot='^Monitors\$Store@[0-9a-f]+$'
is "$(of "$hot" 'length')" 1 "the object for which threads queue is a lock, those of one thread each are none" || diag locks.json
is "$(of "$hot" "(.[0].calls >= $(said hot queued)) and .[0].threads == 3")" true "each wait of a millisecond or more is there" ||
	diag program.out
is "$(of "$hot" ".[0].total_ns <= $(said hot waited) and .[0].total_ns >= $(said hot waited) / 2")" true \
	"they took as long as the program says" || diag "$(of "$hot" '.[0].total_ns')" program.out
is "$(of "$hot" '[.[0].min_ns, .[0].verdict, .[0].causes[0].kind, .[0].lock.contended]')" \
	'[0,"interference","lock",null]' "it is lock contention; how often nobody held it is not known"
is "$(of "$hot" '[.[0].causes[] | select(.kind == "lock" or .kind == "cpu-wait") | .share] | add > 0.98')" true \
	"all of it, but for waiting for a CPU" || diag "$(of "$hot" '.[0].causes')"
like <(of "$hot" '.[0].key') '^"Monitors\$Store.put\(\) \(Monitors.java:[0-9]+\)"$' "the place is where it is taken"
is "$(of "$hot" '[.[0].lock.holders[].site] | map(test("[.]put[(]")) | all')" true \
	"put() held it: that its second entry ends gives nothing back" || diag "$(of "$hot" .)"
is "$(of "$hot" '([.[0].lock.holders[].wait_ns] | add) as $ns | $ns >= .[0].total_ns / 2 and $ns <= .[0].total_ns')" true \
	"for most of the waits it is known who" || diag "$(of "$hot" .)"
is "$(of "$hot" '.[0].lock | .holds > 0 and .hold_min_ns > 0 and .hold_p50_ns >= 4000000')" true \
	"it was held for at least what the program paused" || diag "$(of "$hot" '.[0].lock')"
like <(of "$hot" '.[0].stacks[0].frames | .[0:3]') \
	'^\["monitorenter[^"]*","Monitors\$Store.put\(\) \(Monitors.java:[0-9]+\)","Monitors.work\(' "with the call stack of the wait"

# one NAME PATTERN TAKES KEEPS: a thread waited once for what another one kept
one() {
	local lock
	lock=$(of "$2" 'if length == 1 then .[0] else null end')
	is "$(jq -c "[.calls, .total_ns >= $(said "$1" held) * 0.9 and .total_ns <= $(said "$1" waited)]" <<<"$lock")" '[1,true]' \
		"$1: one wait, as long as the program says" || diag "$lock" program.out
	is "$(jq -r .key <<<"$lock")" "$(place "$3" "$lock")" "$1: where"
	is "$(jq -c "[(.lock.holders | length), (.lock.holders[0].site | test(\"[.]$4[(]Thread[)]\")),
		.lock.holders[0].wait_ns >= $(said "$1" held) * 0.9]" <<<"$lock")" '[1,true,true]' "$1: and who held it" || diag "$lock"
}
one shelf '^java.lang.Object@' fetch keep
one class '^Monitors.class$' fetchClass keepClass
one room '^Monitors\$Room@' enter occupy

"$ISPOT" report -i program.data >screen.txt
like screen.txt 'Lock contention in monitorenter Monitors\$Store@[0-9a-f]+, called from$' "the first screen leads with it"
"$ISPOT" report --by lock -i program.data >lock.txt
like lock.txt 'blocked by +Monitors\$Store.put\(\)' "text names the holder"
"$ISPOT" report -v --by lock -i program.data >lock-v.txt # a tight screen has no room for it
like lock-v.txt 'Of monitors, ' "and says what is recorded"
unlike lock.txt 'pthread' "and nothing of a library that has no part in it"
name=$(of "$hot" '.[0].name' | tr -d '"')
"$ISPOT" report -v --slow "monitorenter $name" -i program.data >slow.txt
like slow.txt '^ +Monitors.work' "--slow shows who called"
"$ISPOT" report --html page.html -i program.data
like page.html "monitorenter Monitors.Store@" "the page has it"
"$ISPOT" outliers --json -i program.data >outliers.json
is "$(jq '[.blocks[].name] | any(test("monitorenter"))' outliers.json)" false "outliers takes no wait for an execution"

# The locks of java.util.concurrent, each of which one thread waits for once; who waits for a latch or a semaphore
# waits for no lock.
cat >Concurrent.java <<-'EOJ'
	import java.util.concurrent.*;
	import java.util.concurrent.locks.*;
	class Concurrent {
		interface Take { void run() throws Exception; }
		static void wait(String name, Take take, Runnable give) throws Exception {
			long[] ns = new long[1];
			Thread t = new Thread(() -> {
				long since = System.nanoTime();
				try { take.run(); } catch (Exception e) { throw new RuntimeException(e); }
				ns[0] = System.nanoTime() - since;
			});
			t.start();
			while (t.getState() != Thread.State.WAITING && t.getState() != Thread.State.TIMED_WAITING)
				Thread.onSpinWait();
			Thread.sleep(100);
			give.run();
			t.join();
			System.out.println("said " + name + " waited " + ns[0] + " end");
		}
		public static void main(String[] a) throws Exception {
			ReentrantLock lock = new ReentrantLock();
			lock.lock();
			wait("lock", lock::lock, lock::unlock);
			ReentrantLock timed = new ReentrantLock(true);
			timed.lock();
			wait("timed", () -> timed.tryLock(1, TimeUnit.HOURS), timed::unlock);
			ReentrantReadWriteLock shared = new ReentrantReadWriteLock();
			shared.writeLock().lock();
			wait("shared", shared.readLock()::lock, shared.writeLock()::unlock);
			StampedLock stamped = new StampedLock();
			long stamp = stamped.writeLock();
			wait("stamped", stamped::readLock, () -> stamped.unlockWrite(stamp));
			CountDownLatch latch = new CountDownLatch(1);
			wait("latch", latch::await, latch::countDown);
			Semaphore semaphore = new Semaphore(0);
			wait("semaphore", semaphore::acquire, semaphore::release);
		}
	}
EOJ
javac Concurrent.java
record program --java -- java Concurrent
is "$status" 0 "java.util.concurrent: status" || diag program.err
"$ISPOT" report --by lock --json -i program.data >locks.json
# waits PATTERN NAME...: as many locks as names, each with one long wait, together as long as the program says
waits() {
	local ns=0 name
	for name in "${@:2}"; do ns=$((ns + $(said "$name" waited))); done
	is "$(of "$1" "map(select(.total_ns >= 90000000)) | [length, (map(.calls) | add), (map(.total_ns) | add <= $ns)]")" \
		"[$(($# - 1)),$(($# - 1)),true]" "java.util.concurrent: ${*:2}" || diag program.out "$(of "$1" 'map([.name, .calls, .total_ns])')"
}
waits '^java.util.concurrent.locks.ReentrantLock' lock timed
waits '^java.util.concurrent.locks.ReentrantReadWriteLock' shared
waits '^java.util.concurrent.locks.StampedLock' stamped
is "$(of 'Latch|Semaphore' length)" 0 "a latch and a semaphore are no locks" || diag "$(of . '[.[].name]')"
like <(of '^java.util.concurrent.locks.StampedLock' '[.[].key] | join(" ")') 'Concurrent' "the place is outside of Java's own classes"

record kept --java --keep-slower 50ms -- java Monitors
"$ISPOT" report --by lock --json -i kept.data >locks.json
is "$(of '^java.lang.Object@|class$|Room@' '[.[].lock.holders | length] | [length, add]')" '[3,3]' \
	"--keep-slower: long waits are there with who held it" || diag locks.json
done_testing
