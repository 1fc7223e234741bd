# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What a call of an empty synchronized Java method costs, alone and recorded with --java, and with its stack:
# elapsed, which has in it that ispot reads the rings beside it, and of the thread's own CPU time, which is
# what the recording itself tells. Rings have room for all of it: where one is full a call costs less.

JAVA_CALLS=2000003
JAVA_STACKS=500009

# busy NAME CALLS [RECORD-OPTIONS...]: ns a call, elapsed and of the CPU's, to NAME.ns and NAME.cpu
busy() {
	local prefix=()
	[ $# -gt 2 ] && prefix=("$ISPOT" record --java -m 64M -o java.data "${@:3}" --)
	"${prefix[@]}" java Busy "$2" 2>java.err >java.out
	sed -n 's/^ns a call //p' java.err >>"$1.ns"
	sed -n 's/^CPU ns a call //p' java.err >>"$1.cpu"
}

# compare WHAT CALLS RECORD-OPTIONS...: in turns, alone and recorded; what the recordings say, and lost
compare() {
	local adds says
	rm -f alone.* recorded.* says lost
	for _ in $(seq "$ROUNDS"); do
		busy alone "$2"
		busy recorded "${@:2}"
		"$ISPOT" outliers --json -i java.data | jq ".trace.instrumentation_ns / $2 | round" >>says
		report_json java.data | jq .trace.lost_records >>lost
	done
	adds=$(paste recorded.cpu alone.cpu | awk '{ print $1 - $2 }' | median) says=$(median <says)
	row "$1: alone, elapsed" "$(median <alone.ns)" ns
	row "  recorded" "$(median <recorded.ns)" ns
	row "  alone, CPU time" "$(median <alone.cpu)" ns
	row "  recorded" "$(median <recorded.cpu)" ns
	row "  records lost, in the worst" "$(sort -n lost | tail -1)" "" "=" 0
	row "  what recording adds, CPU time" "$adds" ns
	row "  as the recording says" "$says" ns
	row "  said of it" "$(compute "$says / $adds")" "" ">=" 0.75
	row "  said of it" "$(compute "$says / $adds")" "" "<=" 1.33
}

bench_java() {
	head_line "A synchronized Java method, empty, one thread (medians of $ROUNDS)"
	if ! command -v javac >/dev/null || ! javac -d . "$ROOT/microbench/java/Busy.java"; then
		echo "  skipped: no JDK is installed, or its javac fails"
		return
	fi
	compare "a call" $JAVA_CALLS -q
	row "what recording adds, elapsed" "$(paste recorded.ns alone.ns | awk '{ print $1 - $2 }' | median)" ns "<=" 300
	compare "with its stack" $JAVA_STACKS --slow-stacks 1ns
}
