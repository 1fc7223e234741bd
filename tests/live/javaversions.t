#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Every Java machine that is installed: exact counts, an attach, the verifier, and from 21 on virtual threads.
# Takes no privilege. ISPOT_JDKS: directories of further ones.
. "$(dirname "$0")/lib.sh"

for tool in java javac; do command -v $tool >/dev/null || skip_all "no JDK is installed: no $tool"; done
"$ISPOT" record --java -o probe.data true 2>probe.err
grep -q 'built without its Java agent' probe.err && skip_all "ispot was built without a JDK's headers"
# In the form of the oldest.
javac --release 11 -d . "$ROOT"/microbench/java/*.java "$ROOT"/tests/live/VerifyAll.java 2>javac.err ||
	skip_all "javac fails: $(head -1 javac.err)"

# calls NAME PATTERN: of blocks whose names match
calls() { "$ISPOT" report --json -i "$1.data" | jq --arg p "$2" '[.blocks[] | select(.name | test($p)) | .calls] | add // 0'; }
major() { sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$1/release"; }

virtual_threads() { # virtual_threads JAVA VERSION
	record virtual --java -F Virtual.sleeps -F Virtual.quick -- "$1" Virtual
	is "$status" 0 "$2: virtual threads: status" || diag virtual.err
	is "$(calls virtual '^Virtual.quick')" "$(awk '$2 == "quick" { print $3 }' virtual.out)" "$2: their calls are counted"
	is "$(calls virtual '^Virtual.sleeps')" "$(awk '$2 == "sleeps" { print $3 }' virtual.out)" \
		"$2: those that their carrier leaves, too"
	is "$("$ISPOT" report --json -i virtual.data |
		jq '.blocks[] | select(.name | test("sleeps")) | .timed_calls')" 0 "$2: none of these is given another's end" ||
		diag "$("$ISPOT" report --json -i virtual.data | jq -c '.blocks[] | {name, calls, timed_calls, min_ns}')"
	is "$("$ISPOT" report --json -i virtual.data | jq '.blocks[] | select(.name | test("quick")) | .timed_calls == .calls')" true \
		"$2: those that it does not leave have theirs"
}

one_version() { # one_version JAVA VERSION
	local busy what n
	record exact --java -m 4M -- "$1" Exact 3 101
	is "$status" 0 "$2: status" || diag exact.err
	"$1" Exact 3 101 >bare.out 2>bare.err
	is "$(cat exact.out)" "$(cat bare.out)" "$2: the program's output is what it is without ispot"
	for what in add descend fail; do
		n=$(awk -v of=$what '$1 == "calls" && $2 == of { print $3 }' exact.out)
		is "$(calls exact "^Exact.$what")" "$n" "$2: calls of $what"
	done
	"$1" Busy 1000000 1 >busy.out 2>busy.err &
	busy=$!
	children+=("$busy")
	eventually grep -qs begins busy.out
	"$ISPOT" record --java -p $busy -d 1 -o attached.data 2>attached.err
	is $? 0 "$2: attached: status" || diag attached.err
	is "$([ "$(calls attached '^Busy.step')" -gt 0 ] && echo yes)" yes "$2: attached: calls" || diag attached.err
	kill -0 $busy
	is $? 0 "$2: attached: the program goes on" || diag busy.err
	kill $busy
	record context --java --slow-stacks 10ms -- "$1" Context
	is "$("$ISPOT" outliers --rule robust --json -i context.data |
		jq '[.blocks[].divergent_executions[].stack[1] // "" | select(startswith("Context.rare()"))] | length')" 6 "$2: call stacks"
	record verified --java -F '*' -- "$1" "${verify[@]}" VerifyAll all
	like verified.out '^linked [0-9]{5} refused 0 ' "$2: every class of its image verifies with every method rewritten"
	if [ "$2" -ge 21 ]; then virtual_threads "$1" "$2"; fi
}

verify=(-XX:+UnlockDiagnosticVMOptions -XX:+BytecodeVerificationLocal -XX:+BytecodeVerificationRemote
	--add-modules ALL-SYSTEM)
# shellcheck disable=SC2086 # a list
for home in /usr/lib/jvm/*/ ${ISPOT_JDKS:-}; do
	if [ -L "${home%/}" ] || [ ! -x "$home/bin/java" ] || [ ! -e "$home/release" ]; then continue; fi
	version=$(major "$home")
	if [ "${version:-0}" -lt 11 ]; then
		record old --java -- "$home/bin/java" -version
		is "$status" 0 "$version: a machine that is too old runs" || diag old.err
	else
		one_version "$home/bin/java" "$version"
	fi
done
[ $tests -gt 0 ] || skip_all "no JDK in /usr/lib/jvm"
done_testing
