#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Where the excess went adds up to the excess, and the causes to all of it, within 1 %: of every block
# of every kind, in every golden trace.
. "$(dirname "$0")/lib.sh"

# Prints what does not add up of a report on stdin, and how many blocks did; 1 % and what rounding
# five whole nanoseconds may lose.
sums() { # sums TRACE KIND
	jq -r --arg of "$1 by $2" '
		def far($sum; $whole): ($sum - $whole | fabs) > 0.01 * $whole + 5;
		.blocks[] | select(.excess_split != null and .excess_split.running_ns != null)
		| ([.excess_split[]] | add) as $split | ([.causes[].share] | add) as $shares
		| if far($split; .excess_ns)
			then "\($of): \(.name): parts of \($split) ns, excess \(.excess_ns) ns"
			elif ($shares - 1 | fabs) > 0.01
			then "\($of): \(.name): causes are \($shares) of the excess"
			else "good" end'
}

all_sums() {
	local trace by
	for trace in "$1"/tests/golden/*.trace; do
		"$ISPOT" dump --from-text "$trace" -o "$planted/split.data" || echo "$trace: not read"
		for by in function site lock sequence; do
			"$ISPOT" report --json --by $by -i "$planted/split.data" 2>/dev/null |
				sums "$(basename "$trace" .trace)" $by
		done
	done
}

all_sums "$top" >"$planted/all"
holds "parts and causes add up to the excess" grep -v '^good$' "$planted/all"
n=$(grep -c '^good$' "$planted/all")
ok "of many blocks" test "$n" -ge 50
echo "# $n blocks"

plain='{"blocks":[{"name":"f","excess_ns":1000,"causes":[{"share":SHARE}],
"excess_split":{"callee_ns":0,"runnable_ns":100,"blocked_ns":BLOCKED,"idle_ns":0,"running_ns":100}}]}'
planted_sums() { sed "s/SHARE/$1/; s/BLOCKED/$2/" <<<"$plain" | sums t function; }
catches "parts that do not" 'parts of 900 ns' planted_sums 1 700
catches "causes that do not" 'causes are 0.9' planted_sums 0.9 800
ok "is content with what does" loud good planted_sums 1 800
