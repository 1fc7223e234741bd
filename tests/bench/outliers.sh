# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What `ispot outliers` takes: CPU time a record, both passes, and memory, which must not grow with the
# recording; and what recording for it costs a server by mode, as the paper's table 2 has it (0.2 to 0.6 %
# with timers only, 15 % and more with whole call trees).

OUTLIERS_MILLIONS=${OUTLIERS_MILLIONS:-40}

# outliers_of MILLIONS: "user seconds, peak KB"
outliers_of() {
	"$ROOT/build/bench/trace_speed" -n "$1" -w -o outliers.data >/dev/null || return
	/usr/bin/time -f '%U %M' "$ISPOT" outliers -i outliers.data 2>&1 >/dev/null | tail -1
	rm -f outliers.data
}

# Of redis, name and options of each mode. "commands" are functions of the server's that run for each.
OUTLIERS_MODES="timers only|-F call -e none -g none
call tree|-F call -F setCommand -F getCommand -F lookupKey* -F dbAdd* -F addReply* -e none -g none
calling context|-F call -e none -g dwarf
what calls count|-F call -g none
contention|-F call -F pthread_mutex_*@arg1 -e none -g none
streaming, from 1 ms on|-F call -g none --keep-slower 1ms"

# load SECONDS-FILE: what the benchmark takes, elapsed
load() { seconds_of redis-benchmark -p "$port" -q -c 4 -n 50021 -t set,get >>"$1"; }

seconds_of() {
	local begin
	begin=$(date +%s%N)
	"$@" >/dev/null 2>&1
	compute "($(date +%s%N) - $begin) / 1e9" 3f
	echo
}

# The median of the pairs: a neighbour of the machine that comes and goes is in both of a pair. And between
# what half of them are: a difference that is smaller says nothing.
slower() { # slower NAME
	paste recorded alone | awk '{ printf "%.2f\n", 100 * ($1 / $2 - 1) }' | sort -n >pairs
	row "$1: slower by" "$(compute "$(median <pairs)" 1f)" %
	row "  half of the pairs" "$(awk '{ v[NR] = $1 } END { printf "%.1f to %.1f", v[int((NR + 3) / 4)], v[NR + 1 - int((NR + 3) / 4)] }' pairs)" %
}

# pairs ALONE RECORDED: runs both as often, in turns, and so that neither is always the first of its pair
pairs() {
	local i
	: >alone && : >recorded
	for i in $(seq "$ROUNDS"); do
		if [ $((i % 2)) = 1 ]; then "$1" "${@:3}" && "$2" "${@:3}"; else "$2" "${@:3}" && "$1" "${@:3}"; fi
	done
}

load_alone() { load alone; }
load_recorded() {
	local pid
	"$ISPOT" record -q -o modes.data "$@" -p "$redis" 2>/dev/null &
	pid=$!
	sleep 1 # the probes are in
	load recorded
	kill -INT $pid
	wait $pid
}

served() { redis-cli -p "$port" info commandstats | tr ',=' '  ' | awk '/^cmdstat_[sg]et:/ { n += $2 } END { print n + 0 }'; }
errors() { redis-cli -p "$port" info stats | tr -d '\r' | sed -n 's/^total_error_replies://p'; }

mode() { # mode NAME OPTIONS...
	local before
	before=$(served)
	pairs load_alone load_recorded "${@:2}"
	slower "$1"
	row "  commands served" $(($(served) - before)) "" "=" $((ROUNDS * 2 * 2 * 50021))
	row "  that failed" "$(errors)" "" "=" 0
}

# each_mode MODES COMMAND: for each line NAME|OPTIONS of the modes COMMAND NAME OPTIONS...
each_mode() {
	local modes name options
	mapfile -t modes <<<"$1"
	for name in "${modes[@]}"; do
		set -f
		read -ra options <<<"${name#*|}"
		set +f
		"$2" "${name%%|*}" "${options[@]}"
	done
}

outliers_modes() {
	head_line "redis-server under redis-benchmark, recorded in each mode (medians of $ROUNDS pairs)"
	if ! command -v redis-server >/dev/null || ! command -v redis-benchmark >/dev/null; then
		echo "  skipped: no redis-server is installed"
		return
	fi
	port=$((20000 + $$ % 20000))
	redis-server --port $port --save '' --appendonly no --dir "$DIR" >redis.log 2>&1 &
	redis=$!
	children+=("$redis")
	sleep 1
	each_mode "$OUTLIERS_MODES" mode
	kill "$redis"
}

# Of Java programs: the synchronized methods and blocks alone, whose waiting for monitors and the machine's
# pauses are always told, and which are written while the program runs; these with the Java stack of each
# call, or of long ones; and a call tree: what is called for each ray, for each statement.
JAVA_MODES="timers, contention, pauses, streaming|
calling context of every call|--slow-stacks 1ns
calling context from 1 ms on, which alone are written|--slow-stacks 1ms --keep-slower 1ms
call tree|-F synchronized:org.sunflow.* -F org.sunflow.core.renderer.*.* -F org.sunflow.core.LightServer.*"
DATABASE_MODES="timers, contention, pauses, streaming|
calling context of every call|--slow-stacks 1ns
calling context from 1 ms on, which alone are written|--slow-stacks 1ms --keep-slower 1ms
call tree|-F synchronized:org.hsqldb.* -F org.hsqldb.Session.* -F org.hsqldb.Statement*.*"

# jar_of PACKAGE FILE: the installed one, or Debian's, unpacked into the cache of tests/vm/fetch
jar_of() {
	local cache=${ISPOT_VM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/ispot-vm} unpacked
	if [ -e "/usr/share/java/$2" ]; then
		echo "/usr/share/java/$2"
	else
		unpacked=$("$ROOT/tests/vm/fetch" "$cache" bookworm amd64 "$1" 2>/dev/null) && echo "$unpacked/usr/share/java/$2"
	fi
}

# work SECONDS-FILE COMMAND...: what the Java program's work takes, as it says
work() {
	"${@:2}" java -Djava.awt.headless=true -cp "$classes" "${program[@]}" >done_work 2>said
	sed -n 's/^seconds //p' said >>"$1"
	cat done_work >>outputs
}
work_alone() { work alone; }
work_recorded() { work recorded "$ISPOT" record -q --java -m 16M -o modes.data "$@" --; }

java_mode() { # java_mode NAME OPTIONS...
	: >outputs
	pairs work_alone work_recorded "${@:2}"
	slower "$1"
	row "  calls, records lost" "$(report_json modes.data | jq -r '"\(.trace.calls), \(.trace.lost_records)"')" ""
	row "  agent and stacks took, as it says" "$("$ISPOT" outliers --json -i modes.data | jq '.trace.instrumentation_ns / 1e6 | floor')" ms
	row "  outputs that differ" "$(($(sort -u outputs | wc -l) - 1))" "" "=" 0
}

# The paper's first column; of the threads' time, of which there are so many.
in_sections() { # in_sections THREADS
	"$ISPOT" record -q --java -m 16M -o modes.data -- java -Djava.awt.headless=true -cp "$classes" "${program[@]}" >done_work 2>said
	row "in critical sections" "$("$ISPOT" outliers --json -i modes.data |
		jq ".trace | 1000 * .section_ns / .duration_ns / $1 | round / 10")" %
}

# java_program WHAT MODES THREADS SOURCE ARGUMENTS...: $classes are its own
java_program() {
	head_line "$1, recorded with --java in each mode (medians of $ROUNDS pairs)"
	program=("${@:4}")
	if ! command -v javac >/dev/null || ! javac -cp "$classes" -d . "$ROOT/tests/bench/$4.java" 2>javac.err; then
		echo "  skipped: no JDK, or not its package: $(head -1 javac.err 2>/dev/null)"
		return
	fi
	in_sections "$3"
	each_mode "$2" java_mode
}

outliers_java() {
	classes=.:$(jar_of libsunflow-java sunflow.jar):$(jar_of sunflow sunflowGUI.jar)
	java_program "sunflow rendering in two threads" "$JAVA_MODES" 2 Render 128 2
	classes=.:$(jar_of libhsqldb-java hsqldb.jar)
	java_program "HSQLDB under four clients" "$DATABASE_MODES" 4 Clients 4 8009
}

bench_outliers() {
	local many few_kb many_kb
	head_line "Outliers of $OUTLIERS_MILLIONS million records"
	[ -x "$ROOT/build/bench/trace_speed" ] || { echo "# no trace_speed; run make bench"; return; }
	read -r _ few_kb <<<"$(outliers_of $((OUTLIERS_MILLIONS / 10)))"
	read -r many many_kb <<<"$(outliers_of "$OUTLIERS_MILLIONS")"
	row "CPU time of a record, both passes" "$(compute "$many * 1000 / $OUTLIERS_MILLIONS" 0f)" ns
	row "memory, a tenth of it -> all" "$((few_kb / 1024)) -> $((many_kb / 1024))" MB
	row "  ratio" "$(compute "$many_kb / $few_kb")" "" "<=" 1.2
	outliers_modes
	outliers_java
}
