#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# `ispot fleet report --html`: well-formed, nothing fetched, names escaped, bounded, the matrix and the
# numbers that CSV has; a browser complains of nothing, and axe-core finds nothing serious in it.
. "$(dirname "$0")/lib.sh"

work=$planted/fleetpage
mkdir "$work"
. "$top/tests/check/page.sh"
cd "$work" || exit 1
fleet() { "$ISPOT" fleet "$@"; }
long=$(printf 'a<b>&"%.0s' $(seq 60))

fleet simulate -o three --machines 12 --samples 3600000 --seed 4 --applications 14 --interferers 6 --trio-interferers 6 >/dev/null
mapfile -t named < <(awk -F, '$3 == "trio" { print "--trios"; print $1 }' three/planted.csv)
fleet reduce --db three.db "${named[@]}" three/*.fleet >/dev/null
fleet report --db three.db --html three.html
fleet report --db three.db --csv >three.csv
fleet report --db three.db --json >three.json
fleet simulate -o many --machines 40 --samples 1200000 --seed 5 --applications 600 --interferers 0 >/dev/null
fleet reduce --db many.db many/*.fleet >/dev/null
fleet simulate -o one --machines 1 --samples 10 --seed 5 --applications 2 --interferers 0 >/dev/null
fleet reduce --db one.db one/*.fleet >/dev/null
fleet report --db one.db --html one.html
fleet report --db three.db --base app0001 --html base.html

# The first matrix, cell by cell, against the CSV: who is slower or faster beside whom.
matrix() {
	python3 - three.html three.csv three.json <<-'EOP'
	import csv, json, re, sys
	page = open(sys.argv[1], encoding="utf-8").read()
	effects = {(r["base"], r["corunner"]): r for r in csv.DictReader(open(sys.argv[2])) if r["class"] == "core"}
	apps = [a["name"] for a in json.load(open(sys.argv[3]))["applications"]]
	table = re.search(r'<table class="matrix">.*?</table>', page, re.S).group(0)
	rows = re.findall(r'<tr><th scope="row" class="name">\d+ (.*?)</th>(.*?)</tr>', table)
	signs = {"negative": "−", "positive": "+", "within-noise": "·", "not-certain": "?", "too-few-samples": ""}
	if [name for name, _ in rows] != apps:
	    print("applications:", [name for name, _ in rows], apps)
	found = 0
	for base, cells in rows:
	    for other, cell in zip(apps, re.findall(r"<td[^>]*>(.*?)</td>", cells)):
	        want = signs[effects[base, other]["effect"]] if (base, other) in effects else ""
	        found += cell == "−"
	        if cell != want:
	            print(base, "beside", other, "is", cell, "and not", want)
	if found < 5:
	    print("only", found, "interferers")
	shown = re.findall(r'data-key="change" data-value="([^"]*)"', page)
	want = sorted("%.9g" % float(r["change"]) for r in csv.DictReader(open(sys.argv[2])) if r["effect"] == "negative")
	if sorted(shown) != want:
	    print("changes:", sorted(shown), want)
	EOP
}

if command -v python3 >/dev/null; then
	for page in three one base; do holds "$page: well-formed, and fetches nothing" parsed $page.html; done
	holds "the matrix and the changes are those of the CSV" matrix
else
	skip "well-formed" "no python3"
fi
figures() { grep -o '(figure [1-9])' "$1" | sort | uniq -c | awk '{ print $3 $1 }' | paste -sd' '; }
ok "figures 1, 2, 5 and 7 are there" test "$(figures three.html)" = "1)1 2)1 5)8 7)8"
ok "of one application its own" test "$(figures base.html)" = "1)1 2)1 5)1 7)1"
ok "trios have a table" loud "Two that slow a third together" cat three.html

if command -v sqlite3 >/dev/null; then
	cp three.db hostile.db
	sqlite3 hostile.db "UPDATE apps SET name = '</title><script>alert(1)</script>&\"''' || id;
		UPDATE types SET name = '<img src=x onerror=alert(2)>'; UPDATE meta SET value = '<b>ipc' WHERE key = 'indicator'"
	fleet report --db hostile.db --html hostile.html
	! command -v python3 >/dev/null || holds "hostile names are text" parsed hostile.html
	sqlite3 many.db "UPDATE apps SET name = id || '$long'"
	fleet report --db many.db --min-samples 5 --alpha 0.99 --html many.html
	small() { [ "$(stat -c %s many.html)" -le 2000000 ] || stat -c '%s bytes' many.html; }
	holds "600 applications with long names: at most 2 MB" small
	! command -v python3 >/dev/null || holds "and well-formed" parsed many.html
else
	skip "hostile names" "no sqlite3"
fi
ok "one of the three forms" loud "one of --json, --csv and --html" fleet report --db three.db --json --html x.html

# complaints FILE: what the browser says of it
complaints() {
	timeout 120 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$work/chromium" --enable-logging=stderr \
		--v=0 --dump-dom "file://$1" 2>&1 >/dev/null | grep CONSOLE
}
if command -v chromium >/dev/null; then
	holds "a browser complains of nothing" complaints "$work/three.html"
	sed 's|</body>|<script>undefined_function()</script></body>|' three.html >broken.html
	catches "what a browser complains of" CONSOLE complaints "$work/broken.html"
else
	skip "a browser complains of nothing" "no chromium here"
fi
if command -v chromium >/dev/null && find_axe; then
	for page in three base hostile; do
		[ -e $page.html ] || continue
		ok "$page: axe-core finds nothing serious" silent audited "$work/$page.html"
		ok "$page: nor in dark" silent audited "$(dark "$work/$page.html")"
	done
else
	skip "axe-core finds nothing serious" "no chromium or no axe-core"
fi
