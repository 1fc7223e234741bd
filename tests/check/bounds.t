#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What a report keeps is bounded: where there is more it says how much, and of what. And where one call in
# several was recorded, what cannot be known then.
. "$(dirname "$0")/lib.sh"
command -v jq >/dev/null || { skip "bounds" "no jq here" && exit; }

# made NAME: a recording of its text
made() { "$ISPOT" dump --from-text "$planted/$1.trace" -o "$planted/$1.data"; }
# notices NAME ARGS...: of the report, after it
notices() { "$ISPOT" report --json -i "$planted/$1.data" "${@:2}" | jq -r '.notices[]'; }
# of NAME JQ ARGS...
of() { "$ISPOT" report --json -i "$planted/$1.data" "${@:3}" | jq -c "$2"; }

session='{"kind":"session","version":1,"command":"./app","pid":100,"start_ns":0,"clock":"monotonic","cpus":1,"period":1,"pmu":"none","producer":"synthetic","kernel":"6.18.0"}'
# function_line ID NAME [ARG-NAME CLASS]
function_line() {
	local args=
	[ $# -lt 3 ] || args=',"args":[{"bit":0,"name":"'$3'","type":"","class":"'$4'","is_signed":false,"key":true}]'
	echo '{"kind":"function","id":'"$1"',"set":1,"name":"'"$2"'","symbol":"'"$2"'","block":"function","exit":"return","probe_offset":0,"class":"nop5"'"$args"'}'
}

# Calls in no order, of 60 functions; and calls that each made three of them, in no order.
{
	echo "$session"
	awk 'function below(n) { x = (x * 69069 + 1) % 4294967296; return int(x / 65536) % n }
		function call(f) { t += 100; print t, "0 1/1 entry", f; t += 100; print t, "0 1/1 exit", f }
		BEGIN {
			for (i = 0; i < 30000; i++)
				call("f" below(60))
			for (i = 0; i < 12000; i++) {
				print ++t, "0 1/1 entry outer"
				for (k = 0; k < 3; k++)
					call("f" below(60))
				print t += 100, "0 1/1 exit outer"
			}
		}'
} >"$planted/sequences.trace"
made sequences
ok "sequences beyond the bound are counted" loud "repetitions found no room among the sequences kept: these are not all" \
	notices sequences --by sequence
# shellcheck disable=SC2016 # no commands
ok "calls of too many kinds are counted" loud 'calls contain too many different calls to list: their sequences are FUNCTION { … }' \
	notices sequences --by sequence
ok "both are numbers for scripts" loud "[true,true]" \
	of sequences '.sequences | [.repetitions_without_room > 0, .calls_not_told_apart > 0]' --by sequence
ok "and those calls are one sequence" loud '["outer { … }",true]' \
	of sequences '.blocks[] | select(.name == "outer { … }") | [.name, .calls > 1000]' --by sequence
ok "no more of them are kept" loud true of sequences '[.blocks[] | select(.kind == "sequence")] | length <= 4096 + 2048 + 2048 + 200' \
	--by sequence

ok "steps between them are all told apart" loud '["sequence",0]' \
	of sequences '.transitions | [.of, .not_told_apart]' --by transition --states sequence

# Calls in no order, of 5000 functions: more than are told apart, and each step another.
{
	echo "$session"
	awk 'function below(n) { x = (x * 69069 + 1) % 4294967296; return int(x / 65536) % n }
		BEGIN {
			for (i = 0; i < 90000; i++) {
				f = below(5000)
				print t += 100, "0 1/1 entry f" f
				print t += 100, "0 1/1 exit f" f
			}
		}'
} >"$planted/steps.trace"
made steps
ok "steps beyond the bound are counted" loud "steps lead from or to states beyond those told apart" \
	notices steps --by transition
ok "no more states and steps are kept, none is without its number" loud "[4096,32768,true]" \
	of steps '.transitions | [(.states | length), (.all | length), ([.all[].count] | add) + .not_told_apart == 90001]' --by transition
ok "their page is a page" loud "of 32768 transitions" \
	"$ISPOT" report --by transition --html - -i "$planted/steps.data"
ok "and a graph has the most frequent ones" loud "33k more transitions are beyond the limit" \
	"$ISPOT" export --format dot -i "$planted/steps.data" -o "$planted/steps.dot"

# More values of an argument, and more locks, than are told apart.
{
	echo "$session"
	function_line 0 work n value
	awk 'BEGIN {
		for (i = 0; i < 5000; i++) {
			print t += 100, "0 1/1 entry work sp=0x1000"
			print t, "0 1/1 args 1", i
			print t += 50, "0 1/1 exit work sp=0x1000"
		}
	}'
} >"$planted/keys.trace"
made keys
# shellcheck disable=SC2016 # no commands
ok "keys beyond the bound are counted" loud '904 calls have keys beyond the 4096 kept per function: they are in `other`' \
	notices keys --key work@n
ok "and are one block" loud '["other than the first 4096",904]' \
	of keys '.blocks[] | select(.key == "other than the first 4096") | [.key, .calls]' --key work@n
{
	echo "$session"
	function_line 0 pthread_mutex_lock mutex address
	function_line 1 pthread_mutex_unlock mutex address
	awk 'function lock(f) {
			print t += 100, "0 1/1 entry", f, "sp=0x1000"
			print t, "0 1/1 args 1", i * 64
			print t += 50, "0 1/1 exit", f, "sp=0x1000"
		}
		BEGIN {
			for (i = 1; i <= 65536 + 7; i++) {
				lock("pthread_mutex_lock")
				lock("pthread_mutex_unlock")
			}
		}'
} >"$planted/locks.trace"
made locks
ok "locks beyond the bound are counted" loud "14 calls are on locks beyond the 65536 told apart" notices locks --by lock

# One call in four.
{
	echo "${session/\"period\":1/\"period\":4}"
	function_line 0 pthread_mutex_lock mutex address
	function_line 1 pthread_mutex_unlock mutex address
	for t in 1000 2000 3000; do
		echo "$t 0 1/1 entry pthread_mutex_lock sp=0x1000"
		echo "$t 0 1/1 args 1 4096"
		echo "$((t + 100)) 0 1/1 exit pthread_mutex_lock sp=0x1000"
		echo "$((t + 500)) 0 1/1 entry pthread_mutex_unlock sp=0x1000"
		echo "$((t + 500)) 0 1/1 args 1 4096"
		echo "$((t + 600)) 0 1/1 exit pthread_mutex_unlock sp=0x1000"
	done
} >"$planted/sampled.trace"
made sampled
ok "sampled: sequences are of what was recorded" loud "calls were sampled: sequences contain the recorded calls alone" notices sampled --by sequence
ok "sampled: nobody holds a lock" loud "hold times and holders are n/a" notices sampled --by lock
ok "sampled: so there are none" loud '[3,null,null]' \
	of sampled '.blocks[] | select(.kind == "lock") | [.calls, .lock.holds, .lock.contended]' --by lock

# The probes of calls left out are in the durations of their callers: of those three in four, 10 us each.
{
	echo "${session/'"period":1'/'"period":4'}"
	echo '{"kind":"calibration","class":"nop5","exit":"return","threads":1,"when":"before","inner_min_ns":500,"inner_p50_ns":500,"inner_p99_ns":510,"inner_mean_ns":501.0,"full_p50_ns":10000,"calls":10000}'
	function_line 0 outer
	function_line 1 inner
	awk 'BEGIN {
		for (i = 0; i < 400; i++) {
			print t += 20000, "0 1/1 entry outer sp=0x2000"
			if (i % 4 == 0) {
				print t + 9000, "0 1/1 entry inner sp=0x1000"
				print t + 9600, "0 1/1 exit inner sp=0x1000"
			}
			print t += 11000, "0 1/1 exit outer sp=0x2000"
		}
	}'
} >"$planted/nested.trace"
made nested
ok "sampled: what left out probes took is no interference" loud '["outer","noise"]' \
	of nested '.blocks[] | select(.name == "outer") | [.name, .verdict]'
ok "sampled: that they are in the durations is said" loud "hold the probes of the calls left out" notices nested

# Of short calls there are sums alone.
{
	echo "$session"
	function_line 0 pthread_mutex_lock mutex address
	function_line 1 pthread_mutex_unlock mutex address
	echo '{"kind":"notice","code":"keep-slower","text":"calls shorter than 1ms are summed up"}'
	for t in 1000000 5000000; do
		echo "$t 0 1/1 entry pthread_mutex_lock sp=0x1000"
		echo "$t 0 1/1 args 1 4096"
		echo "$((t + 2000000)) 0 1/1 exit pthread_mutex_lock sp=0x1000"
	done
	echo "9000000 0 1/1 brief id=1 calls=2 outer=2 ns=300 min=150 0 300 150 300 0 0 2"
} >"$planted/slower.trace"
made slower
for by in lock site sequence; do
	ok "--keep-slower: --by $by is without the short calls" loud "2 calls left no more than their sums in the file" \
		notices slower --by $by
done
ok "--keep-slower: nobody holds a lock" loud "hold times and holders are n/a" notices slower --by lock
ok "--keep-slower: so there are none" loud '[2,null,null]' \
	of slower '.blocks[] | select(.kind == "lock") | [.calls, .lock.holds, .lock.contended]' --by lock

# Probes that are out at times: what was held then may have been released, and taken again.
{
	echo "$session"
	function_line 0 pthread_mutex_lock mutex address
	function_line 1 pthread_mutex_unlock mutex address
	awk 'function call(f) {
			print t += 200, "0 1/1 entry", f, "sp=0x1000"
			print t, "0 1/1 args 1 4096"
			print t += 200, "0 1/1 exit", f, "sp=0x1000"
		}
		BEGIN {
			for (burst = 1; burst <= 10; burst++) {
				print t = burst * 1000000, "0 0/0 set-on 1 tgid=0"
				if (burst > 1)
					call("pthread_mutex_unlock")
				for (i = 0; i < 20; i++) {
					call("pthread_mutex_lock")
					call("pthread_mutex_unlock")
				}
				call("pthread_mutex_lock")
				print t += 100, "0 0/0 set-off 1 tgid=0"
			}
		}'
} >"$planted/bursts.trace"
made bursts
ok "bursts: only what was seen whole was held" loud '[210,200,200]' \
	of bursts '.blocks[] | select(.kind == "lock") | [.calls, .lock.holds, .lock.hold_max_ns]' --by lock
executions() { "$ISPOT" outliers --json -i "$planted/$1.data" | jq -c '.blocks[] | select(.kind == "critical section") | [.timed, .max_ns]'; }
ok "bursts: and so for outliers" loud '[200,200]' executions bursts

# Tries whose result was not recorded.
{
	echo "$session"
	function_line 0 pthread_mutex_trylock mutex address
	for t in 1000 2000; do
		echo "$t 0 1/1 entry pthread_mutex_trylock sp=0x1000"
		echo "$t 0 1/1 args 1 4096"
		echo "$((t + 100)) 0 1/1 exit pthread_mutex_trylock sp=0x1000"
	done
} >"$planted/tries.trace"
made tries
ok "tries without a result are said" loud "2 tries to take a lock are without their result: what they held is not known; record it with @ret" \
	notices tries --by lock
