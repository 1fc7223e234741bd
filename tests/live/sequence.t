#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What threads do again and again: counted exactly where the program knows, and few sequences hold
# most of what programs that nobody here wrote do.
. "$(dirname "$0")/lib.sh"
needs_probes

record four -F pthread_mutex_lock -F pthread_mutex_unlock -- "$MB/four_locks" -n 3001
"$ISPOT" report --by sequence --json -i four.data >four.json
# The loader takes a few locks of its own: theirs are the calls with another key.
"$ISPOT" report --json -i four.data >keys.json
taken=$(awk '$1 == "lock" { sub("taken=", "", $4); n += $4 } END { print n }' four.out)
loader=$(jq '[.blocks[] | select(.kind == "function" and .name == "pthread_mutex_lock" and .key and (.key | test("^locks") | not)) | .calls] | add // 0' keys.json)
is "$(jq '.blocks[] | select(.kind == "sequence" and .name == "pthread_mutex_lock pthread_mutex_unlock") | .calls' four.json)" \
	$((taken + loader)) "lock unlock, as often as a lock was taken"

# covers NAME: the 50 most frequent sequences hold 90 % of the calls
covers() {
	"$ISPOT" report --by sequence -v -i "$1.data" >"$1.txt" 2>"$1.err"
	tr '\n' ' ' <"$1.txt" >"$1.line"
	like "$1.line" 'sequences hold (9[0-9]|100)% *of +the +calls' "$1: 50 sequences hold 90 % of the calls"
}
# try NAME COMMAND...: recorded with the patterns in $patterns, or skipped
try() {
	if ! command -v "$2" >/dev/null; then
		skip "$1" "no $2 here"
		return
	fi
	record "$1" "${patterns[@]}" -- "${@:2}" && covers "$1"
}
patterns=(-F 'lzma_*')
try xz xz -0 -T2 -k -c "$(command -v bash)"
patterns=(-F pthread_mutex_lock -F pthread_mutex_unlock -F 'sb_event_*')
try sysbench sysbench mutex --threads=3 --mutex-num=4 --mutex-locks=500 --mutex-loops=10 run

# A server, and what its stacks are of each sequence.
if command -v redis-server >/dev/null && command -v redis-benchmark >/dev/null; then
	redis-server --port 0 --unixsocket "$DIR/redis.sock" --save '' >redis.log 2>&1 &
	server=$!
	children+=("$server")
	eventually test -S redis.sock
	record redis -F 'processCommand*' -F call -F 'lookupKey*' -F 'addReply*' -F 'read*FromClient' -F 'ae*' \
		-F 'dict*' -F write -F read -p "$server" -- redis-benchmark -s "$DIR/redis.sock" -n 1000 -q \
		-t set,get,lpush,lrange_100
	kill "$server"
	covers redis
	"$ISPOT" report --by sequence --json -i redis.data >redis.json
	[ "$(jq '[.blocks[] | select(.kind == "sequence" and .calls > 99) | select(.stacks | length == 0)] | length' redis.json)" = 0 ]
	ok $? "redis: every frequent sequence has its call stacks" ||
		diag "$(jq -c '.blocks[] | select(.calls > 99) | select(.stacks | length == 0) | [.name, .calls]' redis.json)"
	"$ISPOT" report --by sequence -v -i redis.data >redis.all
	like redis.all '^ +from .*% of its time' "redis: -v says where they are called from"
else
	skip "redis: 50 sequences hold 90 % of the calls" "no redis here"
fi

done_testing
