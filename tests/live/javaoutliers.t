#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The Iceberg paper's fifteen microbenchmarks as a Java program: every execution that it makes long is found
# where it is, and none is made up: the program's own clock, around the call, saw each that is listed take at
# least as long as the report says.
. "$(dirname "$0")/lib.sh"

for tool in java javac; do command -v $tool >/dev/null || skip_all "no JDK is installed: no $tool"; done
"$ISPOT" record --java -o probe.data true 2>probe.err
grep -q 'built without its Java agent' probe.err && skip_all "ispot was built without a JDK's headers"
javac -d . "$ROOT"/microbench/java/Variability.java 2>javac.err || skip_all "javac fails: $(head -1 javac.err)"

# of METHOD JQ-PATH
of() { jq -r --arg b "Variability.$1(int)" ".blocks[] | select(.name == \$b) | $2" report.json; }
runs() { awk -v name="$1" '$1 == "run" && $2 == name { print $3, $4, $5 }' all.out; }

# Those made long, and that the program saw as long: three times as long as nine of ten others.
rare() {
	runs "$1" | sort -n -k2 | awk '{ at[NR] = $1; ns[NR] = $2; rare[NR] = $3 }
		END { for (i = 1; i <= NR; i++) if (rare[i] && ns[i] > 3 * ns[int(NR * 0.9)]) print at[i] }'
}
missed() { rare "$1" | grep -vxF -f <(of "$1" '.divergent_executions[].index') | paste -sd' '; }
invented() {
	of "$1" '.divergent_executions[] | "\(.index) \(.duration_ns)"' |
		awk 'NR == FNR { own[$1] = $2; next } !($1 in own) || $2 > own[$1] { print $1 }' <(runs "$1") - | paste -sd' '
}

record all --java -m 4M -- java -Xmx128m Variability
is "$status" 0 "status" || diag all.err
"$ISPOT" outliers --json --rule robust -i all.data >report.json
mapfile -t methods < <(awk '$1 == "run" && !seen[$2]++ { print $2 }' all.out)
is "${#methods[@]}" 15 "the paper's fifteen"
is "$("$ISPOT" report --json -i all.data | jq .trace.lost_records)" 0 "nothing was lost"
for m in "${methods[@]}"; do
	is "$(of "$m" .executions)" 300 "$m: every execution counts"
	is "$(missed "$m")" "" "$m: each that is made long is found" || diag "$(runs "$m" | grep ' 1$')"
	is "$(invented "$m")" "" "$m: none is made up"
done
# Where it is made long by memory the machine decides whether it is; by what the program itself waits for, it does not.
for m in fastSlow growingList nested network; do
	is "$(rare "$m" | wc -l)" "$(runs "$m" | grep -c ' 1$')" "$m: those made long are"
done
for m in appendToList hashMap; do
	is "$([ "$(runs "$m" | grep -c ' 1$')" -ge 3 ] && echo yes)" yes "$m: it is made anew at least three times"
done
is "$(of nested '[.divergent_executions[] | select(.index == 77 or .index == 177) | .cause] | unique == ["lock"]')" true \
	"nested: the wait for the inner monitor is what made them long" ||
	diag "$(of nested '[.divergent_executions[] | {index, cause, evidence, monitors_ns}] | tojson')"
is "$(of nested '[.hints[].behaviour] | index("B") != null')" true "nested: behaviour B"
is "$(jq '[.blocks[] | select(.name | startswith("Variability.nested(int) block")) | .divergent_executions[] |
	select(.duration_ns > 20000000)] | length' report.json)" 0 "nested: the wait is not in the inner section"
done_testing
