# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What a call of an empty synchronized Java method costs, alone and recorded with --java, and with its stack;
# and what the recording itself says of that.

bench_java() {
	local alone recorded stacks
	head_line "A synchronized Java method, empty, one thread (medians of $ROUNDS)"
	if ! command -v javac >/dev/null || ! javac -d . "$ROOT/microbench/java/Busy.java"; then
		echo "  skipped: no JDK is installed, or its javac fails"
		return
	fi
	: >alone.ns && : >recorded.ns && : >stacks.ns
	for _ in $(seq "$ROUNDS"); do
		java Busy 10000019 2>alone.err >alone.out
		sed -n 's/^ns a call //p' alone.err >>alone.ns
		"$ISPOT" record --java -o java.data -- java Busy 10000019 2>java.err >java.out
		sed -n 's/^ns a call //p' java.err >>recorded.ns
		"$ISPOT" record --java --slow-stacks 1ns -o stacks.data -- java Busy 1000003 2>java.err >java.out
		sed -n 's/^ns a call //p' java.err >>stacks.ns
	done
	alone=$(median <alone.ns) recorded=$(median <recorded.ns) stacks=$(median <stacks.ns)
	row "a call" "$alone" ns
	row "a call, recorded" "$recorded" ns
	row "  records lost, of $((2 * 10000019))" "$(report_json java.data | jq .trace.lost_records)" ""
	row "  what recording adds" "$(compute "$recorded - $alone" 0f)" ns "<=" 300
	row "  as the recording says" "$("$ISPOT" outliers --json -i java.data | jq '.trace.instrumentation_ns / 10000019 | round')" ns
	row "a call, recorded with its stack" "$stacks" ns
}
