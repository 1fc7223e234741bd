#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Executions whose rare long ones the program knows (the Iceberg paper's microbenchmarks): all are found
# where they are, none is made up. How long an execution took depends on the machine, and so do further
# long ones; but the program's own clock, around the probes, must have seen each of them as long.
. "$(dirname "$0")/lib.sh"
needs_probes

# outliers NAME OPTIONS...: NAME.json
outliers() { "$ISPOT" outliers --json -i "$1.data" "${@:2}" >"$1.json" 2>"$1.outliers-err"; }

# of NAME BLOCK JQ-PATH
of() { jq -r --arg b "$2" ".blocks[] | select(.name == \$b) | $3" "$1.json"; }

# The program's own stamps: INDEX NS RARE.
runs() { awk '$1 == "run" { print $2, $3, $4 }' "$1.out"; }

# Those that are rare, and that the program saw as long: three times as long as half of all.
rare() {
	runs "$1" | sort -n -k2 | awk '{ at[NR] = $1; ns[NR] = $2; rare[NR] = $3 }
		END { for (i = 1; i <= NR; i++) if (rare[i] && ns[i] > 3 * ns[int((NR + 1) / 2)]) print at[i] }'
}

# Of these, what the report does not have.
missed() { rare "$1" | grep -vxF -f <(of "$1" "$1" '.divergent_executions[].index') | paste -sd' '; }

# Executions of the report that lasted longer than the program saw around them.
invented() {
	of "$1" "$1" '.divergent_executions[] | "\(.index) \(.duration_ns)"' |
		awk 'NR == FNR { own[$1] = $2; next } !($1 in own) || $2 > own[$1] { print $1 }' <(runs "$1") - | paste -sd' '
}

mapfile -t variants < <("$MB/variability" --variant list)
for variant in "${variants[@]}"; do
	n=$([ "$variant" = ask_host ] && echo 90 || echo 300)
	record "$variant" -F "$variant" -F slow_path -F 'pthread_mutex_lock@arg1' -F 'pthread_mutex_unlock@arg1' -- \
		"$MB/variability" --variant "$variant" -n "$n"
	outliers "$variant" --rule robust
	is "$(of "$variant" "$variant" .executions)" "$n" "$variant: every execution counts" || diag "$variant.err"
	is "$(missed "$variant")" "" "$variant: every rare one is found" || diag "$(runs "$variant" | grep ' 1$')"
	is "$(invented "$variant")" "" "$variant: none is made up"
	# More than a half, because any of them may have been preempted besides.
	cause=$(truth "$variant" | awk '$2 == "cause" { print $3 }')
	rare=$(rare "$variant" | paste -sd,)
	if [ -n "$cause" ]; then
		is "$(of "$variant" "$variant" "[.divergent_executions[] | select(.index | IN($rare)) | .cause] |
			(map(select(. == \"$cause\")) | length) * 2 > length")" true "$variant: they are $cause" ||
			diag "$(of "$variant" "$variant" "[.divergent_executions[] | select(.index | IN($rare)) | .cause] | tojson")"
	fi
	behaviour=$(truth "$variant" | awk '$2 == "behaviour" { print $3 }')
	if [ -n "$behaviour" ]; then
		is "$(of "$variant" "$variant" "[.hints[].behaviour] | index(\"$behaviour\") != null")" true \
			"$variant: behaviour $behaviour" || diag "$(of "$variant" "$variant" '[.hints[]] | tojson')"
	fi
	# The paper's rule may hide some behind one that is extreme, but makes up none either.
	outliers "$variant"
	is "$(invented "$variant")" "" "$variant: none is made up by the paper's rule"
done

# The section of the outer lock waits for the inner one, which another thread holds.
outliers nested_sections --rule robust
is "$(jq '[.blocks[] | select(.kind == "critical section")] | length' nested_sections.json)" 3 "three critical sections" ||
	diag "$(jq -r '.blocks[].name' nested_sections.json)"
is "$(jq '.blocks[] | select(.name | startswith("outer ")) | .divergent >= 10 and
	([.divergent_executions[] | select(.cause == "lock")] | length) >= 5' nested_sections.json)" true \
	"the outer section waits for a lock" || diag "$(jq -c '.blocks[] | select(.name | startswith("outer ")) | .hints' nested_sections.json)"
is "$(jq '.blocks[] | select(.name | startswith("inner taken in nested")) |
	[.divergent_executions[] | select(.contended)] | length < 3' nested_sections.json)" true \
	"the wait for the inner lock is not in the inner section"

# The other views of the same.
"$ISPOT" outliers --csv -i fast_or_slow.data >table.csv
like table.csv '^fast_or_slow,function,[0-9]+,.*,slow-path,' "CSV has a row for each"
"$ISPOT" outliers --html page.html -i fast_or_slow.data
like page.html 'class="c-path"' "HTML draws them in the colour of their cause"

done_testing
