# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What the tests of `ispot imbalance --count edges` share.
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
needs_command jq
[ -x "$ISPOT" ] || skip_all "no $ISPOT: run make"

# needs_counting NAME...: programs of build/edges
needs_counting() {
	for program in "$@"; do
		[ -x "$ROOT/build/edges/$program" ] || make -s -C "$ROOT" "build/edges/$program" >/dev/null 2>&1 ||
			skip_all "build/edges/$program cannot be made: run make build/edges/$program"
	done
}

# count NAME COMMAND...: NAME.json
count() {
	"$ISPOT" imbalance --count edges --json -- "${@:2}" >"$1.json" 2>"$1.err" || diag "$1.err"
}

# What was counted in the section that most instances have: "line kind", the largest score first.
RUNS='[.sections[] | select(.kind == "barrier")] | max_by(.instances)'
first() { jq -r "$RUNS"' | .causes[0] | "\(.file // "" | split("/") | last):\(.line)"' "$1"; }

# way NAME WANTED COMMAND...: instances, threads, and the line that comes first
way() {
	local name=$1 wanted=$2 got
	shift 2
	for _ in 1 2 3; do
		count way "$@"
		got=$(jq -c "$RUNS"' | [.instances, (.threads | length), .causes[0].line]' way.json)
		[ "$got" != "$wanted" ] || break
	done
	is "$got" "$wanted" "$name" || {
		jq -c '.sections[] | {name, instances, imbalance, answer, causes: [.causes[] | {line, score, kind, counts}]}' way.json >causes
		diag causes
	}
}
