#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# man/ispot-report.schema.json, which scripts may rely on, is what `ispot report --json` prints: each golden trace, in
# each view that has rows.
. "$(dirname "$0")/lib.sh"
if ! command -v python3 >/dev/null; then
	skip "the schema of report --json" "python3 is missing"
	exit
fi

work=$planted/schema
mkdir "$work"
reports() { # reports NAME OPTIONS...: what of the golden traces has any
	local trace name
	for trace in tests/golden/*.trace; do
		name=$(basename "$trace" .trace)
		"$ISPOT" report -i "$work/$name.data" --json "${@:2}" >"$work/$name.$1.json" 2>/dev/null || rm "$work/$name.$1.json"
	done
}
for trace in tests/golden/*.trace; do
	"$ISPOT" dump --from-text "$trace" -o "$work/$(basename "$trace" .trace).data" 2>/dev/null
done
agrees() { python3 tests/check/schema.py man/ispot-report.schema.json "$work"/*."$1".json; }
reports function
ok "there are reports" [ "$(find "$work" -name '*.function.json' | wc -l)" -ge 40 ]
holds "the schema has what they have" agrees function
for by in lock site sequence thread; do
	reports $by --by $by
	holds "and what there is by $by" agrees $by
done

# It notices what a schema is for.
changed() { # changed JQ-PROGRAM: what is said of a report that differs
	jq "$1" "$work/svc.function.json" >"$work/changed.json"
	python3 tests/check/schema.py man/ispot-report.schema.json "$work/changed.json"
}
catches "a member that is new" "report.trace.new is not in the schema" changed '.trace.new = 1'
catches "one that is missing" "report has no blocks" changed 'del(.blocks)'
catches "one of another type" "report.blocks[].calls is of type object" changed '.blocks[0].calls = {}'
