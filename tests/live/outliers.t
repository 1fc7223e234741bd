#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Executions whose rare long ones the program knows (the Iceberg paper's microbenchmarks): all are found
# where they are, none is made up. How long an execution took depends on the machine, and so do further
# long ones; but the program's own clock, around the probes, must have seen each of them as long.
. "$(dirname "$0")/lib.sh"
needs_probes

# What the machine takes from executions that are not rare would be their behaviour.
# shellcheck disable=SC2034 # of record
by=ahead

# of BLOCK JQ-PATH
of() { jq -r --arg b "$1" ".blocks[] | select(.name == \$b) | $2" report.json; }

# The program's own stamps: INDEX NS RARE.
runs() { awk -v name="$1" '$1 == "run" && $2 == name { print $3, $4, $5 }' all.out; }

# Those that are rare, and that the program saw as long: three times as long as half of all.
rare() {
	runs "$1" | sort -n -k2 | awk '{ at[NR] = $1; ns[NR] = $2; rare[NR] = $3 }
		END { for (i = 1; i <= NR; i++) if (rare[i] && ns[i] > 3 * ns[int((NR + 1) / 2)]) print at[i] }'
}

# Of these, what the report does not have.
missed() { rare "$1" | grep -vxF -f <(of "$1" '.divergent_executions[].index') | paste -sd' '; }

# Executions of the report that lasted longer than the program saw around them.
invented() {
	of "$1" '.divergent_executions[] | "\(.index) \(.duration_ns)"' |
		awk 'NR == FNR { own[$1] = $2; next } !($1 in own) || $2 > own[$1] { print $1 }' <(runs "$1") - | paste -sd' '
}

# prevails BLOCK: of the time of divergent executions that were not held up, most is that of rare ones,
# without the longest of these as well. Otherwise the machine has slowed others by as much, unseen.
prevails() {
	of "$1" "[.divergent_executions[] | select(.cause | IN(\"page-fault\", \"unknown\", \"slow-path\", \"callee\"))
		| {ns: .duration_ns, rare: (.index | IN($(rare "$1" | paste -sd,)))}]" |
		jq -se '(map(.[]) | [map(select(.rare).ns), map(.ns)]) as [$rare, $all] | ($rare | max // 0) as $most
			| ($rare | add // 0) > 0.6 * ($all | add // 0) and
			(($rare | add // 0) - $most > 0.6 * (($all | add // 0) - $most))' >/dev/null
}

mapfile -t variants < <("$MB/variability" --variant list)
n=300
record all "${variants[@]/#/-F}" -F slow_path -F 'pthread_mutex_lock@arg1' -F 'pthread_mutex_unlock@arg1' -- \
	"$MB/variability" -n $n
is "$status" 0 "status" || diag all.err
is "$(grep -c '^run ' all.out)" $((n * ${#variants[@]})) "the program tells of every execution"
nothing_lost_in() { is "$(jq '[.notices[] | select(test("lost"))] | length' report.json)" 0 "nothing was lost"; }

"$ISPOT" outliers --json --rule robust -i all.data >report.json
nothing_lost_in
for variant in "${variants[@]}"; do
	is "$(of "$variant" .executions)" $n "$variant: every execution counts"
	is "$(missed "$variant")" "" "$variant: every rare one is found" || diag "$(runs "$variant" | grep ' 1$')"
	is "$(invented "$variant")" "" "$variant: none is made up"
	# Any of them may have been preempted besides, or have met memory for the first time.
	cause=$(truth all | awk -v name="$variant" '$1 == name && $2 == "cause" { print $3 }')
	if [ -n "$cause" ]; then
		of "$variant" "[.divergent_executions[] | select(.index | IN($(rare "$variant" | paste -sd,))) | .cause]" >causes
		is "$(jq "length > 0 and all(. == \"$cause\" or IN(\"cpu-wait\", \"page-fault\"))" causes)" true \
			"$variant: they are $cause, where not preempted" || diag "$(jq -c . causes)"
	fi
	behaviour=$(truth all | awk -v name="$variant" '$1 == name && $2 == "behaviour" { print $3 }')
	if [ "$behaviour" = C ] && ! prevails "$variant"; then
		skip "$variant: behaviour $behaviour" "the machine has slowed other executions by more"
	elif [ -n "$behaviour" ]; then
		is "$(of "$variant" "[.hints[].behaviour] | index(\"$behaviour\") != null")" true \
			"$variant: behaviour $behaviour" || diag "$(of "$variant" '[.hints[]] | tojson')"
	fi
done

# The section of the outer lock waits for the inner one, which another thread holds.
is "$(jq '[.blocks[] | select(.name | test("^(outer|inner) taken in "))] | length' report.json)" 3 "three critical sections" ||
	diag "$(jq -r '.blocks[].name' report.json)"
is "$(jq '.blocks[] | select(.name | startswith("outer ")) | .divergent >= 10 and
	([.divergent_executions[] | select(.cause == "lock")] | length) >= 5' report.json)" true \
	"the outer section waits for a lock" || diag "$(jq -c '.blocks[] | select(.name | startswith("outer ")) | .hints' report.json)"
is "$(jq '.blocks[] | select(.name | startswith("inner taken in nested")) |
	[.divergent_executions[] | select(.cause == "lock")] | length' report.json)" 0 \
	"the wait for the inner lock is not in the inner section"

# The paper's rule may hide some behind one that is extreme, but makes up none either.
"$ISPOT" outliers --json -i all.data >report.json
for variant in "${variants[@]}"; do
	is "$(invented "$variant")" "" "$variant: none is made up by the paper's rule"
done

# The other views of the same.
"$ISPOT" outliers --rule robust --csv -i all.data >table.csv
like table.csv '^fast_or_slow,function,[0-9]+,.*,slow-path,' "CSV has a row for each"
"$ISPOT" outliers --rule robust --html page.html -i all.data
like page.html 'class="c-path"' "HTML draws them in the colour of their cause"

done_testing
