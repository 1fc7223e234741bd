#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Names in a recording may be anything: no view hands a terminal what it would obey.
. "$(dirname "$0")/lib.sh"

sed 's/"symbol":"grow"/"symbol":"gr\\u001b[31mow\\u009b"/; s/ grow / "gr\\x1b[31mow\\xc2\\x9b" /
	s/"symbol":"table_lock"/"symbol":"table\\u001b[2J"/; s/"symbol":"look"/"symbol":"look\\u009b"/
	s/"file":"src.app.c"/"file":"a\\u001b.c"/' \
	tests/golden/outliers.trace | "$ISPOT" dump --from-text - -o "$planted/names.data" ||
	echo "# no recording"

# tame COMMAND...: names the function, and has no control character
tame() {
	local out
	out=$("$ISPOT" "$@" -i "$planted/names.data") || return
	grep -q 'gr?\[31mow?' <<<"$out" || return
	! LC_ALL=C grep -aP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]' <<<"$out"
}
for view in outliers "outliers --of add" "outliers --json" "outliers --csv" "outliers --html -" \
	"report -v" "report --slow add" "report --json"; do
	# shellcheck disable=SC2086 # words
	ok "$view" tame $view
done
