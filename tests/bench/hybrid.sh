# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The recording without -F beside the same program alone: what it really slows a program by, and
# what ispot's report says it does. Alone and traced in turn, the median of the pairs' ratios.

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
}

# Wall and CPU seconds of a command alone.
times_of() {
	local TIMEFORMAT='%R %U %S'
	{ time "$@" >/dev/null 2>&1; } 2>&1 | awk '{ print $1, $2 + $3 }'
}

# Of a pair: CPU alone and traced, slower by CPU and wall time, and what ispot says, in %.
hybrid_pair() {
	local wall cpu
	read -r wall cpu < <(times_of "$@")
	"$ISPOT" record -q -o hybrid.data -- "$@" >/dev/null 2>hybrid.err || {
		head -1 hybrid.err >&2
		return 1
	}
	report_json hybrid.data | jq -r --argjson wall "$wall" --argjson cpu "$cpu" \
		'[$cpu, .trace.cpu_ns / 1e9, 100 * (.trace.cpu_ns / 1e9 / $cpu - 1),
		100 * (.trace.duration_ns / 1e9 / $wall - 1), 100 * (.self_cost.overhead // 0),
		([.blocks[] | select(.kind == "function")] | length), .trace.calls] | map(tostring) | join(" ")'
}

column() { cut -d' ' -f"$1" hybrid.rounds | median; }

# hybrid_row NAME COMMAND...
hybrid_row() {
	local name=$1
	shift
	command -v "$1" >/dev/null || { echo "# hybrid: no $1 here" >&2; return; }
	: >hybrid.rounds
	times_of "$@" >/dev/null
	for _ in $(seq "$HYBRID_ROUNDS"); do
		hybrid_pair "$@" >>hybrid.rounds || return
	done
	printf '  %-18s %7.2f s %7.2f s %9.1f %% %9.1f %% %9.1f %% %9d %9d\n' "$name" "$(column 1)" \
		"$(column 2)" "$(column 3)" "$(column 4)" "$(column 5)" "$(column 6)" "$(column 7)"
	[ -z "${HYBRID_VERBOSE-}" ] || sed 's/^/    # /' hybrid.rounds
}

bench_hybrid() {
	head_line "Without -F: budget 10 % (median of $HYBRID_ROUNDS pairs)"
	printf '  %-18s %9s %9s %11s %11s %11s %9s %9s\n' program "CPU alone" traced "more CPU" "more wall" \
		"ispot says" functions calls
	hybrid_input
	[ -n "${HYBRID_SKIP_LONG-}" ] || hybrid_row sort sort --parallel=2 -S 64M text
	hybrid_row "xz -T2" xz -T2 -0 -kc text
	hybrid_row gzip gzip -1kc text
	hybrid_row sqlite3 sqlite3 :memory: '.read queries.sql'
	hybrid_row python3 "$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable))')" work.py
	hybrid_row "sysbench mutex" sysbench mutex --threads=2 --mutex-num=64 --mutex-locks=600000 --mutex-loops=2000 run
	hybrid_row "sysbench threads" sysbench threads --threads=4 --thread-locks=2 --time=2 run
	hybrid_row "sched pipe" perf bench sched pipe -l 100000
}
