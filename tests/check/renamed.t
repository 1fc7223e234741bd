#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# No verdict and no cause follows from a name that the program gives: every golden trace has the same ones when it,
# its threads, functions and frames are called otherwise, by names that say what time could go to.
. "$(dirname "$0")/lib.sh"

# What a report says, but for what things are called; in an order that does not depend on that.
said() { # said BY: a report on stdin
	jq -c --arg by "$1" '.blocks[] | [$by, .kind, .calls, .excess_ns, .lost_threads, .verdict,
		[.causes[] | [.kind, .share, .confidence]]]' | sort
}

report() { # report BY DATA
	"$ISPOT" report --json --by "$1" -i "$2" 2>/dev/null | said "$1"
}

# differ NAME: a line for each verdict that has changed, of the trace NAME.txt
differ() {
	local turn by
	"$ISPOT" dump --from-text "$planted/$1.txt" -o "$planted/old.data" || return
	for turn in 0 5; do
		python3 tests/check/renamed.py "$turn" <"$planted/$1.txt" >"$planted/new.txt" &&
			"$ISPOT" dump --from-text "$planted/new.txt" -o "$planted/new.data" || echo "$1: not read when renamed"
		for by in $([ $turn = 0 ] && echo site) function; do
			report "$by" "$planted/old.data" >"$planted/old"
			report "$by" "$planted/new.data" >"$planted/new"
			diff "$planted/old" "$planted/new" | sed -n "s/^[<>]/$1 &/p"
			wc -l <"$planted/new" >>"$planted/blocks"
		done
	done
}

all_differ() {
	local trace name
	for trace in "$top"/tests/golden/*.trace; do
		name=$(basename "$trace" .trace)
		"$ISPOT" dump --from-text "$trace" -o "$planted/golden.data" || echo "$name: not read"
		"$ISPOT" dump -i "$planted/golden.data" >"$planted/$name.txt"
		differ "$name"
	done
}

holds "verdicts and causes are the same by any names" all_differ
n=$(awk '{ n += $1 } END { print n }' "$planted/blocks")
ok "of many blocks" test "$n" -ge 400
echo "# $n blocks"
# of the last one, waits
ok "of what is called otherwise" test -z "$("$ISPOT" report --csv -i "$planted/new.data" | grep sort_rows)"

reads_names='{"blocks":[{"kind":"function","calls":9,"excess_ns":9,"lost_threads":1,"verdict":"interference","causes":[{"kind":"KIND","share":1,"confidence":1}]}]}'
two_kinds() {
	diff <(said function <<<"${reads_names/KIND/lock}") <(said function <<<"${reads_names/KIND/cpu-wait}")
}
catches "a cause that follows from a name" cpu-wait two_kinds
