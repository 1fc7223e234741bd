# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The recording without -F beside the same program alone: what it really slows a program by, and
# what ispot's report says it does. Alone and traced in turn, the median of the pairs' ratios.

HYBRID_ROUNDS=${HYBRID_ROUNDS:-7}

hybrid_input() {
	[ -s text ] || head -c 60000000 /dev/urandom | base64 >text
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

seconds_of() {
	local begin
	begin=$(date +%s%N)
	"$@" >/dev/null 2>&1
	echo "$((($(date +%s%N) - begin) / 1000))" | awk '{ print $1 / 1e6 }'
}

# hybrid_row NAME COMMAND...
hybrid_row() {
	local name=$1 alone traced
	shift
	command -v "$1" >/dev/null || { echo "# hybrid: no $1 here" >&2; return; }
	: >hybrid.rounds
	"$@" >/dev/null 2>&1
	for _ in $(seq "$HYBRID_ROUNDS"); do
		alone=$(seconds_of "$@")
		"$ISPOT" record -q -o hybrid.data -- "$@" >/dev/null 2>hybrid.err
		report_json hybrid.data >hybrid.json
		traced=$(jq '.trace.duration_ns / 1e9' hybrid.json)
		echo "$alone $traced $(compute "100 * ($traced / $alone - 1)" 1f) $(
			jq '(.self_cost.overhead // 0) * 100, (.blocks | map(select(.kind == "function")) | length), .trace.calls' hybrid.json | paste -sd' ')" >>hybrid.rounds
	done
	printf '  %-22s %7.2f s %7.2f s   %7.1f %%  %7.1f %% %10d %9d\n' "$name" \
		"$(cut -d' ' -f1 hybrid.rounds | median)" "$(cut -d' ' -f2 hybrid.rounds | median)" \
		"$(cut -d' ' -f3 hybrid.rounds | median)" "$(cut -d' ' -f4 hybrid.rounds | median)" \
		"$(cut -d' ' -f5 hybrid.rounds | median)" "$(cut -d' ' -f6 hybrid.rounds | median)"
	[ -z "${HYBRID_VERBOSE-}" ] || sed 's/^/    # /' hybrid.rounds
}

bench_hybrid() {
	head_line "Without -F: budget 10 % (median of $HYBRID_ROUNDS pairs)"
	printf '  %-22s %9s %9s %11s %10s %10s %9s\n' program alone traced slower "ispot says" functions calls
	hybrid_input
	hybrid_row sort sort --parallel=2 -S 64M text
	hybrid_row "xz -T2" xz -T2 -0 -kc text
	hybrid_row gzip gzip -1kc text
	hybrid_row sqlite3 sqlite3 :memory: '.read queries.sql'
	hybrid_row python3 python3 work.py
	hybrid_row "sysbench mutex" sysbench mutex --threads=2 --mutex-num=64 --mutex-locks=600000 --mutex-loops=2000 run
	hybrid_row "sysbench threads" sysbench threads --threads=4 --thread-locks=2 --time=2 run
}
