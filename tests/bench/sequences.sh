# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Sequences: how much 50 of them hold of what real programs do, and how fast they are found.

SEQUENCE_CALLS=${SEQUENCE_CALLS:-300000}
SEQUENCE_MILLIONS=${SEQUENCE_MILLIONS:-100}

# sequences_of NAME FILE: the part of the calls that the 50 most frequent sequences hold
sequences_of() {
	local share many
	read -r share many < <("$ISPOT" report --by sequence --json -i "$2" 2>/dev/null |
		jq -r '"\(.sequences.calls_in_50) \([.blocks[] | select(.kind == "sequence")] | length)"')
	row "$1: calls in the 50 most frequent of $many sequences" "$(compute "100 * $share" 2f)" % ">=" 90
}

bench_sequences_redis() {
	local server
	redis-server --port 0 --unixsocket "$DIR/redis.sock" --save '' >redis.out 2>&1 &
	server=$!
	children+=("$server")
	for _ in $(seq 100); do [ -S redis.sock ] || sleep 0.1; done
	"$ISPOT" record -q -o redis.data -F 'processCommand*' -F call -F 'lookupKey*' -F 'addReply*' \
		-F 'read*FromClient' -F 'ae*' -F 'dict*' -F write -F read -p "$server" -- \
		redis-benchmark -s "$DIR/redis.sock" -n 5000 -q -t set,get,lpush,lrange_100 >redis.out 2>&1
	kill "$server"
	sequences_of redis redis.data
}

# generated MILLIONS FUNCTIONS: records, µs, KiB of the report on a generated recording of calls that
# are nested at random
generated() {
	local us kb records
	"$ROOT/build/bench/trace_speed" -n "$1" -f "$2" -o many.data -w >/dev/null || return
	read -r us kb < <(report_cost many.data --by sequence)
	records=$(jq .trace.records cost.json)
	rm -f many.data
	echo "$records $us $kb"
}

# Time grows with the records and memory with the sequences, which are as many in a tenth of them:
# with 40 functions, and with so many that every bound of the dictionary is reached.
bench_sequences_many() {
	local functions millions most_mb n us kb n2 us2 kb2
	[ -x "$ROOT/build/bench/trace_speed" ] || { echo "# no build/bench/trace_speed; run make bench"; return; }
	for functions in 40 2000; do
		millions=$SEQUENCE_MILLIONS most_mb=200
		[ $functions = 40 ] || millions=$((SEQUENCE_MILLIONS / 5)) most_mb=300
		read -r n us kb < <(generated "$millions" $functions)
		read -r n2 us2 kb2 < <(generated $(((millions + 9) / 10)) $functions)
		row "generated calls of $functions functions: records" "$n" "" ">=" $((millions * 1000000))
		row "  report --by sequence" "$(compute "$us / 1e6" 1f)" s "<=" "$(compute "4 * $n / 1e6" 0f)"
		row "  time per record, against a tenth of them" "$(compute "$us / $n / ($us2 / $n2)")" "" "<=" 1.5
		row "  peak memory" "$((kb / 1024))" MB "<=" $most_mb
		row "  peak memory, against a tenth of them" "$(compute "$kb / $kb2")" "" "<=" 1.25
	done
}

bench_sequences() {
	local records us
	head_line "Sequences"
	if command -v redis-server >/dev/null && command -v redis-benchmark >/dev/null; then
		bench_sequences_redis
	fi
	if command -v xz >/dev/null; then
		"$ISPOT" record -q -o xz.data -F 'liblzma*:*' -- xz -1 -T2 -k -c "$(command -v bash)" >/dev/null 2>&1
		sequences_of xz xz.data
	fi
	if command -v sysbench >/dev/null; then
		"$ISPOT" record -q -o sysbench.data -F pthread_mutex_lock -F pthread_mutex_unlock -F 'sb_*' -- \
			sysbench mutex --threads=4 --mutex-num=8 --mutex-locks=2000 --mutex-loops=10 run >sysbench.out 2>&1
		sequences_of sysbench sysbench.data
	fi
	"$ISPOT" record -q -o exact.data -F outer -F middle -F inner -- "$MB/exact" -n "$SEQUENCE_CALLS" >/dev/null 2>&1
	read -r us _ < <(report_cost exact.data --by sequence)
	records=$(jq .trace.records cost.json)
	row "report --by sequence: million records per second" "$(compute "$records / $us")" "" ">=" 1
	bench_sequences_many
}
