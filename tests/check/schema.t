#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Of `ispot report --json`, of each golden trace in each view that has rows: it is what man/ispot-report.schema.json says,
# which scripts may rely on; where the excess went adds up to the excess, and the causes to all of it, within 1 %.
. "$(dirname "$0")/lib.sh"

work=$planted/reports
mkdir "$work"
goldens "$planted"
for by in function lock site sequence thread; do
	for name in "${golden[@]}"; do
		job "$work" "$name.$by.json" report --json --by $by -i "$planted/$name.data"
	done
done | many >"$planted/refused" # what a recording may have no rows for
find "$work" -empty -delete
holds "each is a report, or refused with status 1" grep -v ': status 1: ' "$planted/refused"

agrees() { python3 tests/check/schema.py man/ispot-report.schema.json "$work"/*."$1".json; }
changed() { # changed JQ-PROGRAM: what is said of a report that differs
	jq "$1" "$work/svc.function.json" >"$planted/changed.json"
	python3 tests/check/schema.py man/ispot-report.schema.json "$planted/changed.json"
}
if command -v python3 >/dev/null; then
	ok "there are reports" [ "$(find "$work" -name '*.function.json' | wc -l)" -ge 40 ]
	holds "the schema has what they have" agrees function
	for by in lock site sequence thread; do
		holds "and what there is by $by" agrees $by
	done
	# It notices what a schema is for.
	catches "a member that is new" "report.trace.new is not in the schema" changed '.trace.new = 1'
	catches "one that is missing" "report has no blocks" changed 'del(.blocks)'
	catches "one of another type" "report.blocks[].calls is of type object" changed '.blocks[0].calls = {}'
else
	skip "the schema of report --json" "python3 is missing"
fi

# sums FILE...: what does not add up, and "good" for each block that does; 1 % and what rounding five whole nanoseconds
# may lose.
sums() {
	jq -r '
		def far($sum; $whole): ($sum - $whole | fabs) > 0.01 * $whole + 5;
		.blocks[] | select(.excess_split != null and .excess_split.running_ns != null)
		| ([.excess_split[]] | add) as $split | ([.causes[].share] | add) as $shares
		| if far($split; .excess_ns)
			then "\(input_filename): \(.name): parts of \($split) ns, excess \(.excess_ns) ns"
			elif ($shares - 1 | fabs) > 0.01
			then "\(input_filename): \(.name): causes are \($shares) of the excess"
			else "good" end' "$@"
}
sums "$work"/*.{function,site,lock,sequence}.json >"$planted/sums"
holds "parts and causes add up to the excess" grep -v '^good$' "$planted/sums"
n=$(grep -c '^good$' "$planted/sums")
ok "of many blocks" test "$n" -ge 50
echo "# $n blocks"

plain='{"blocks":[{"name":"f","excess_ns":1000,"causes":[{"share":SHARE}],
"excess_split":{"callee_ns":0,"runnable_ns":100,"blocked_ns":BLOCKED,"idle_ns":0,"running_ns":100}}]}'
planted_sums() {
	sed "s/SHARE/$1/; s/BLOCKED/$2/" <<<"$plain" >"$planted/plain.json"
	sums "$planted/plain.json"
}
catches "parts that do not" 'parts of 900 ns' planted_sums 1 700
catches "causes that do not" 'causes are 0.9' planted_sums 0.9 800
ok "is content with what does" loud good planted_sums 1 800
