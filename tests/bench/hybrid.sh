# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The recording without -F beside the same program alone: what it really slows a program by, and
# what ispot's report says it does. Each traced run lies between two runs alone, and its CPU and
# wall time are compared with the mean of these; of the rounds the median counts.

HYBRID_ROUNDS=${HYBRID_ROUNDS:-7}

hybrid_input() {
	[ -s text ] || head -c 120000000 /dev/urandom | base64 >text
	[ -s queries.sql ] || cat >queries.sql <<-'EOQ'
		create table t(a integer primary key, b text, c integer);
		with recursive n(i) as (select 1 union all select i + 1 from n where i < 1500000)
			insert into t select i, hex(i * 7919 % 100003), i % 1009 from n;
		create index tc on t(c);
		select count(*), sum(length(b)) from t where c between 10 and 900;
		select c, count(*) from t group by c order by 2 desc limit 3;
	EOQ
	[ -s work.py ] || cat >work.py <<-'EOP'
		import json, threading
		rows = [{"id": i, "name": "n%d" % i, "tags": list(range(i % 7))} for i in range(2000)]
		lock = threading.Lock()
		total = 0
		def work():
		    global total
		    for _ in range(200):
		        n = len(json.loads(json.dumps(rows)))
		        with lock:
		            total += n
		threads = [threading.Thread(target=work) for _ in range(2)]
		for t in threads: t.start()
		for t in threads: t.join()
	EOP
	# A server that ends with its clients.
	[ -s redis.conf ] || printf '%s\n' 'port 0' 'unixsocket redis.sock' 'save ""' >redis.conf
	[ -s clients.sh ] || cat >clients.sh <<-'EOC'
		until redis-cli -s redis.sock ping >/dev/null 2>&1; do sleep 0.05; done
		redis-benchmark -s redis.sock -q -n 150000 -c 20 -t set,get,lpush >/dev/null
		redis-cli -s redis.sock shutdown nosave
	EOC
	# Files enough for git's threads.
	[ -d tree ] || {
		mkdir tree && split -n 400 -d -a 3 text tree/part && git -C tree init -q &&
			git -C tree add -A
	} >/dev/null 2>&1
}

# What has to run beside the command.
beside() {
	[ -z "${beside-}" ] || bash "$beside" >/dev/null 2>&1 &
}

# As times_of, with what has to run beside it.
times_alone() {
	beside
	times_of "$@"
	wait
}

# Of a round: CPU seconds alone and traced, slower by CPU and wall time and what ispot says in %,
# functions, calls.
hybrid_pair() {
	local wall cpu wall2 cpu2
	read -r wall cpu < <(times_alone "$@")
	beside
	"$ISPOT" record -q -o hybrid.data -- "$@" >/dev/null 2>hybrid.err || {
		head -1 hybrid.err >&2
		return 1
	}
	wait
	read -r wall2 cpu2 < <(times_alone "$@")
	report_json hybrid.data | jq -r --argjson wall "$wall" --argjson cpu "$cpu" \
		--argjson wall2 "$wall2" --argjson cpu2 "$cpu2" \
		'(($cpu + $cpu2) / 2) as $cpu | (($wall + $wall2) / 2) as $wall
		| [$cpu, .trace.cpu_ns / 1e9, 100 * (.trace.cpu_ns / 1e9 / $cpu - 1),
		100 * (.trace.duration_ns / 1e9 / $wall - 1), 100 * (.self_cost.overhead // 0),
		([.blocks[] | select(.kind == "function" and .calls > 0)] | length), .trace.calls]
		| map(. * 100 | round / 100 | tostring) | join(" ")'
}

column() { cut -d' ' -f"$1" hybrid.rounds | median; }

# The budget holds, and what is said is within a third of what it is, or two points of a percentage.
hybrid_verdict() {
	awk -v real="$(column 3)" -v said="$(column 5)" 'BEGIN {
		off = said > real ? said - real : real - said
		print (real > 10 ? "MISS: over budget" : off > 2 && off > real / 3 ? "MISS: said" : "pass")
	}'
}

# hybrid_row NAME COMMAND...
hybrid_row() {
	local name=$1 verdict
	shift
	[ -z "${HYBRID_ONLY-}" ] || [[ " $HYBRID_ONLY " == *" ${name%% *} "* ]] || return
	command -v "$1" >/dev/null || {
		echo "# hybrid: no $1 here" >&2
		return
	}
	: >hybrid.rounds
	times_alone "$@" >/dev/null
	for _ in $(seq "$HYBRID_ROUNDS"); do
		hybrid_pair "$@" >>hybrid.rounds || return
	done
	verdict=$(hybrid_verdict)
	printf '  %-16s %6.2f s %6.2f s %6.1f %% %6.1f %% %6.1f %% %6d %8d %s\n' "$name" "$(column 1)" \
		"$(column 2)" "$(column 3)" "$(column 4)" "$(column 5)" "$(column 6)" "$(column 7)" "$verdict"
	[ "$verdict" = pass ] || echo "without -F: $name: $verdict" >>"$DIR/missed"
	[ -z "${HYBRID_VERBOSE-}" ] || sed 's/^/    # /' hybrid.rounds
}

bench_hybrid() {
	head_line "Without -F: budget 10 % (medians of $HYBRID_ROUNDS rounds: alone, traced, alone)"
	printf '  %-16s %8s %8s %8s %8s %8s %6s %8s\n' program "CPU s" traced "more CPU" wall said \
		blocks calls
	hybrid_input
	hybrid_row sort sort --parallel=2 -S 64M text
	hybrid_row "xz -T2" xz -T2 -0 -kc text
	hybrid_row pigz pigz -p 2 -1 -kc text
	hybrid_row pbzip2 pbzip2 -p2 -1 -kc text
	hybrid_row gzip gzip -1kc text
	hybrid_row sqlite3 sqlite3 :memory: '.read queries.sql'
	hybrid_row python3 "$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable))')" work.py
	hybrid_row "git grep" git -C tree grep --threads=2 -c -e 'abc[d-f]*gh' -e 'xy[z0-9]*Q'
	beside=clients.sh hybrid_row redis redis-server redis.conf
	# Its second thread spins for the first one, so it uses more CPU by all that slows anyone.
	beside=clients.sh hybrid_row "redis spinning" redis-server redis.conf --io-threads 2
	hybrid_row "sysbench mutex" sysbench mutex --threads=2 --mutex-num=64 --mutex-locks=600000 --mutex-loops=2000 run
	hybrid_row "sysbench threads" sysbench threads --threads=4 --thread-locks=2 --time=0 --events=2000 run
	hybrid_row "sched pipe" perf bench sched pipe -l 100000
}
