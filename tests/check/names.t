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

# Every text of a recording at once, but for the words of a list that readers know.
poison() { # poison TRACE
	python3 -S - "tests/golden/$1.trace" <<'EOP'
import json, sys
WORDS = {"session": ["clock", "producer"], "function": ["class", "exit", "block"], "counter": ["role", "source", "unit"],
         "calibration": ["class", "exit", "when"]}
def poisoned(value, words):
    if isinstance(value, dict):
        return {k: v if k in words else poisoned(v, words) for k, v in value.items()}
    if isinstance(value, list):
        return [poisoned(v, words) for v in value]
    return value + "\x1b[31m\x7f\u009b" if isinstance(value, str) and value else value
for line in open(sys.argv[1]):
    if line.startswith("{"):
        line = json.loads(line)
        line = json.dumps(poisoned(line, ["kind"] + WORDS.get(line["kind"], []))) + "\n"
    sys.stdout.write(line)
EOP
}
# all_tame TRACE: none of these commands has a control character for the terminal; what each says is a file of its name
all_tame() {
	local view said=$planted/said
	poison "$1" >"$planted/poisoned.trace" && grep -q 'u009b' "$planted/poisoned.trace" &&
		"$ISPOT" dump --from-text "$planted/poisoned.trace" -o "$planted/poisoned.data" || return
	rm -rf "$said" && mkdir "$said"
	while read -r view; do
		# shellcheck disable=SC2086 # words
		"$ISPOT" $view -i "$planted/poisoned.data" >"$said/$view" 2>&1
		[ -s "$said/$view" ] || { echo "# $view says nothing"; return 1; }
	done <<-EOV
		report
		report -v
		report --json
		report --csv
		report --html -
		report --by thread
		report --by site
		report --by transition
		report --slow nosuch
		report --key nosuch@x
		outliers
		imbalance
		imbalance --json
		dump
		dump --meta
		export --format chrome -o -
		export --format csv -o -
		export --format dot -o -
		export --format folded -o -
		export --format perf -o -
		export --format speedscope -o -
	EOV
	! (cd "$said" && LC_ALL=C grep -anP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]' ./*) | sed 's/^/# /' | tr -d '\033\177' | grep .
}
for trace in svc pool counters joins braked java callsites empty; do
	ok "all texts of $trace.trace" all_tame $trace
done
