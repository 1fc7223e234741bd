#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Real programs from the distribution: whatever is traced has as many exits as entries, the
# programs' own numbers agree, and their output is the same.
. "$(dirname "$0")/lib.sh"
needs_probes

# whole NAME: nothing lost, and every entry of a function with exits has its exit
whole() {
	# one row a function: what it is split by is keys.t's
	report "$1" --no-key '*' || {
		ok 1 "$1: report"
		diag "$1.report-err"
		return 1
	}
	nothing_lost "$1"
	is "$(jq -r '[.blocks[] | select(.kind == "function" and .probe.exit != "none")
		| select(.calls != .timed_calls + .open_calls) | .name] | join(" ")' "$1.json")" \
		"" "$1: every entry has its exit"
	is "$(trace "$1" .calls)" "$(jq '[.blocks[] | select(.kind == "function") | .calls] | add' "$1.json")" \
		"$1: the blocks' calls add up to the trace's"
}

# at_least NAME FUNCTION CALLS
at_least() {
	local calls
	calls=$(block "$1" "$2" .calls)
	[ "$calls" != null ] && [ "$calls" -ge "$3" ]
	ok $? "$1: at least $3 calls of $2" || diag "got: $calls"
}

if command -v sysbench >/dev/null; then
	record sysbench -F pthread_mutex_lock -F pthread_mutex_unlock -- \
		sysbench mutex --threads=2 --mutex-num=3 --mutex-locks=5003 --mutex-loops=500 run
	is "$status" 0 "sysbench: status"
	like sysbench.out 'total number of events' "sysbench: its output"
	whole sysbench
	at_least sysbench pthread_mutex_lock $((2 * 5003))
	is "$(block sysbench pthread_mutex_lock .threads)" 3 "sysbench: two workers and the main thread"
else
	skip sysbench "no sysbench here"
fi

head -c 3000000 /dev/urandom | base64 >input
if command -v xz >/dev/null; then
	xz -T2 -1 -c --block-size=1000000 input >alone.xz
	record xz -F liblzma:lzma_code -F libc:read -F libc:write -F libc:pthread_cond_wait -- \
		xz -T2 -1 -c --block-size=1000000 input
	is "$status" 0 "xz -T2: status"
	cmp -s alone.xz xz.out
	ok $? "xz -T2: its output"
	whole xz
	at_least xz lzma_code 100
	at_least xz write $(($(stat -c %s alone.xz) / 8192))
else
	skip "xz -T2" "no xz here"
fi

sort --parallel=2 -S 8M input >alone.sorted
record sort -F libc:pthread_mutex_lock -F libc:strcoll -F libc:fwrite_unlocked -- \
	sort --parallel=2 -S 8M input
is "$status" 0 "sort --parallel=2: status"
cmp -s alone.sorted sort.out
ok $? "sort --parallel=2: its output"
whole sort
at_least sort pthread_mutex_lock 2

# Python is asked for a known number of calls, in threads and in order.
if command -v python3 >/dev/null; then
	python=$(python3 -c 'import sys, os; print(os.path.realpath(sys.executable))')
	cat >threads.py <<-'EOP'
		import os, threading, time
		def work():
		    for i in range(2003):
		        os.getppid()
		    for i in range(101):
		        time.sleep(0.001)
		threads = [threading.Thread(target=work) for _ in range(3)]
		for t in threads: t.start()
		for t in threads: t.join()
		print("done")
	EOP
	record python -F libc:getppid -F libc:clock_nanosleep -- "$python" threads.py
	is "$status" 0 "python3: status"
	is "$(cat python.out)" "done" "python3: its output"
	whole python
	is "$(block python getppid .calls)" $((3 * 2003)) "python3: calls of getppid"
	is "$(block python clock_nanosleep .calls)" $((3 * 101)) "python3: calls of clock_nanosleep"
	is "$(block python clock_nanosleep .threads)" 3 "python3: threads that slept"
else
	skip python3 "no python3 here"
fi

# redis counts its commands itself; attached to, and ended by the benchmark's end.
if command -v redis-server >/dev/null && command -v redis-benchmark >/dev/null; then
	port=$((20000 + $$ % 20000))
	redis-server --port $port --save '' --appendonly no --dir "$DIR" >redis.log 2>&1 &
	children+=($!)
	redis=$!
	eventually redis-cli -p $port ping >/dev/null 2>&1
	commands() { redis-cli -p $port info stats | awk -F: '/^total_commands_processed/ { print $2 + 0 }'; }
	before=$(commands)
	"$ISPOT" record -o redis.data -F processCommand -F call -p $redis -- \
		redis-benchmark -p $port -q -c 4 -n 10007 -t set >redis.out 2>redis.err
	is $? 0 "redis: status"
	after=$(commands)
	whole redis
	# The count was read by two commands itself: the first's is in `before`, the second not yet in `after`.
	is "$(block redis processCommand .calls)" "$((after - before - 1))" \
		"redis: as many commands as it counted itself" || diag redis.err
	kill $redis
else
	skip redis "no redis-server here"
fi

done_testing
