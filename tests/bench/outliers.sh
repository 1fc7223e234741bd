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

# The median of the pairs: a neighbour of the machine that comes and goes is in both of a pair.
slower() { compute "$(paste recorded alone | awk '{ print 100 * ($1 / $2 - 1) }' | median)" 1f; }

# mode NAME OPTIONS...: as often alone as recorded, one after the other
mode() {
	local name=$1 pid
	shift
	: >alone && : >recorded
	for _ in $(seq "$ROUNDS"); do
		load alone
		"$ISPOT" record -q -o modes.data "$@" -p "$redis" 2>/dev/null &
		pid=$!
		sleep 1 # the probes are in
		load recorded
		kill -INT $pid
		wait $pid
	done
	row "$name: slower by" "$(slower)" %
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
# pauses are always told; these and who calls them; and what is called for each ray.
JAVA_MODES="timers only, contention, pauses|
calling context|-F synchronized:org.sunflow.* -F org.sunflow.core.renderer.*.*
call tree|-F synchronized:org.sunflow.* -F org.sunflow.core.renderer.*.* -F org.sunflow.core.LightServer.*"

# jar_of PACKAGE FILE: the installed one, or Debian's, unpacked into the cache of tests/vm/fetch
jar_of() {
	local cache=${ISPOT_VM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/ispot-vm} unpacked
	if [ -e "/usr/share/java/$2" ]; then
		echo "/usr/share/java/$2"
	else
		unpacked=$("$ROOT/tests/vm/fetch" "$cache" bookworm amd64 "$1" 2>/dev/null) && echo "$unpacked/usr/share/java/$2"
	fi
}

# render SECONDS-FILE COMMAND...: what the picture takes, as the program says
render() {
	"${@:2}" java -Djava.awt.headless=true -cp "$sunflow" Render 128 2 >rendered 2>said
	sed -n 's/^seconds //p' said >>"$1"
	cat rendered >>pictures
}

java_mode() { # java_mode NAME OPTIONS...
	: >alone && : >recorded && : >pictures
	for _ in $(seq "$ROUNDS"); do
		render alone
		render recorded "$ISPOT" record -q --java -m 16M -o modes.data "${@:2}" --
	done
	row "$1: slower by" "$(slower)" %
	row "  calls, records lost" "$(report_json modes.data | jq -r '"\(.trace.calls), \(.trace.lost_records)"')" ""
	row "  pictures that differ" "$(($(sort -u pictures | wc -l) - 1))" "" "=" 0
}

outliers_java() {
	head_line "sunflow rendering in two threads, recorded with --java in each mode (medians of $ROUNDS pairs)"
	sunflow=.:$(jar_of libsunflow-java sunflow.jar):$(jar_of sunflow sunflowGUI.jar)
	if ! command -v javac >/dev/null || ! javac -cp "$sunflow" -d . "$ROOT/tests/bench/Render.java" 2>javac.err; then
		echo "  skipped: no JDK, or no sunflow: $(head -1 javac.err 2>/dev/null)"
		return
	fi
	each_mode "$JAVA_MODES" java_mode
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
