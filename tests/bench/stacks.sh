# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What call stacks add to a traced call, and what they take of the recorder. Call sites are part of
# every recording, -g none too.

bench_stacks() {
	local how none
	head_line "Call stacks: an empty function's call (medians of $ROUNDS)"
	: >none.ns && : >fp.ns && : >dwarf.ns && : >none.cpu && : >fp.cpu && : >dwarf.cpu
	for _ in $(seq "$ROUNDS"); do
		for how in none fp dwarf; do
			ispot_ns -g $how -F hot -- "$MB/call_cost" -n 660000 >>$how.ns
			"$ISPOT" dump --meta -i ispot.data |
				jq -r 'select(.kind? == "end") | .recorder_cpu_ns / .made_records' >>$how.cpu
		done
	done
	none=$(median <none.ns)
	row "a call, -g none" "$none" ns
	row "  of the recorder's CPU, a record" "$(compute "$(median <none.cpu)" 0f)" ns
	for how in fp dwarf; do
		row "a call, -g $how, of that" "$(compute "$(median <$how.ns) / $none")" "" "<=" 1.1
		row "  of the recorder's CPU, a record" "$(compute "$(median <$how.cpu)" 0f)" ns
	done
}
