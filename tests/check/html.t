#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The HTML report: well-formed, nothing fetched, names escaped, bounded, and with the numbers that
# CSV has. Looked at by Python's parser, and by Chromium where there is one.
. "$(dirname "$0")/lib.sh"

work=$planted/html
mkdir "$work"
hostile='</title><script>alert(1)</script>&"'"'"

# A recording whose names are markup.
sed -e "s|comm worker-0|comm <script>alert(2)</script>|" \
	-e "s|\"name\":\"cache_get\"|\"name\":\"$(printf %s "$hostile" | sed 's/[&"]/\\&/g; s/\\"/\\\\\\"/g')\"|" \
	tests/golden/svc.trace >"$work/hostile.trace"
"$ISPOT" dump --from-text "$work/hostile.trace" -o "$work/hostile.data" || echo "# no trace"
"$ISPOT" dump --from-text tests/golden/svc.trace -o "$work/svc.data"
"$ISPOT" report -i "$work/svc.data" --html "$work/svc.html"
"$ISPOT" report -i "$work/svc.data" --csv >"$work/svc.csv"
"$ISPOT" report -i "$work/hostile.data" --html "$work/hostile.html"
for golden in callsites sites; do
	"$ISPOT" dump --from-text "tests/golden/$golden.trace" -o "$work/$golden.data"
	"$ISPOT" report -i "$work/$golden.data" --html "$work/$golden.html"
done

# Two thousand functions of a hundred calls each.
many() {
	awk 'BEGIN { t = 1000000000; for (i = 0; i < 120; i++) for (f = 0; f < 2000; f++) {
		printf "%d 0 7/7 entry function_number_%d_with_a_long_name\n", t, f
		printf "%d 0 7/7 exit function_number_%d_with_a_long_name\n", t + 100 + (i * f) % 977, f
		t += 2000 } }' >"$work/many.trace"
	"$ISPOT" dump --from-text "$work/many.trace" -o "$work/many.data" &&
		"$ISPOT" report -i "$work/many.data" --html "$work/many.html" &&
		[ "$(stat -c %s "$work/many.html")" -le 2000000 ]
}

# parsed FILE: what is wrong with it, one line each.
parsed() {
	python3 - "$1" <<-'EOP'
	import html.parser, sys
	void = {"meta", "br", "line", "rect", "polyline", "img", "hr"}
	class Parser(html.parser.HTMLParser):
	    open = []
	    def handle_starttag(self, tag, attrs):
	        a = dict(attrs)
	        if tag in ("script", "link", "iframe", "object"):
	            print("there is a", tag)
	        for key in ("src", "href", "style"):
	            if "//" in (a.get(key) or ""):
	                print("fetches", a[key])
	        if tag == "svg" and not a.get("aria-label"):
	            print("a figure without a label")
	        if tag not in void:
	            self.open.append(tag)
	    def handle_startendtag(self, tag, attrs):
	        pass
	    def handle_endtag(self, tag):
	        if not self.open or self.open.pop() != tag:
	            print("unexpected end of", tag, "at", self.getpos())
	p = Parser()
	p.feed(open(sys.argv[1], encoding="utf-8").read())
	for tag in p.open:
	    print("never closed:", tag)
	EOP
}

# numbers HTML CSV: cells that differ.
numbers() {
	python3 - "$1" "$2" <<-'EOP'
	import csv, html, re, sys
	rows = list(csv.DictReader(open(sys.argv[2])))
	page = open(sys.argv[1], encoding="utf-8").read()
	table = re.search(r'<table id="ranked">.*?</table>', page, re.S).group(0)
	lines = re.findall(r"<tr class.*?</tr>", table, re.S)
	if len(lines) != len(rows):
	    print(len(lines), "rows in HTML,", len(rows), "in CSV")
	n = 0
	for line, row in zip(lines, rows):
	    for key, value in re.findall(r'data-key="(.*?)" data-value="(.*?)"', line):
	        n += 1
	        if html.unescape(value) != row[key]:
	            print(row["name"], key, value, "is not", row[key])
	if n < 8 * len(rows) or not rows:
	    print("only", n, "cells compared")
	EOP
}

rendered() { # rendered FILE: prints what the browser complains of
	timeout 120 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$work/chromium" \
		--enable-logging=stderr --v=0 --dump-dom "file://$1" 2>"$work/log" >"$work/dom"
	grep 'CONSOLE' "$work/log"
	grep -q '<table id="ranked">' "$work/dom" || echo "no table in the page that was rendered"
}

ok "the page is well-formed and fetches nothing" silent parsed "$work/svc.html"
ok "its numbers are those of --csv" silent numbers "$work/svc.html" "$work/svc.csv"
ok "it draws the callers of a block" grep -q 'aria-label="Callers, by excess"' "$work/callsites.html"
ok "it says who ended whose waiting" grep -q '<h2 id="waits">' "$work/sites.html"
ok "names that are markup stay text" silent parsed "$work/hostile.html"
ok "and are shown" grep -q '&lt;script&gt;alert(2)&lt;/script&gt;' "$work/hostile.html"
ok "a name is in the title without ending it" silent numbers "$work/hostile.html" \
	<("$ISPOT" report -i "$work/hostile.data" --csv)
ok "2000 functions make at most 2 MB" many
ok "that is well-formed" silent parsed "$work/many.html"
ok "and says what it left out" grep -q "more blocks are left out here" "$work/many.html"
# audited FILE: what axe-core finds that keeps people out (impact serious or critical).
audited() {
	python3 - "$1" "$axe" >"$work/audit.html" <<-'EOP'
	import sys
	page, axe = (open(f, encoding="utf-8").read() for f in sys.argv[1:])
	run = """axe.run().then(r => { document.body.innerHTML = "<pre id=audit></pre>";
	document.getElementById("audit").textContent = "AUDIT " + r.passes.length + " " + r.violations
	.filter(v => ["serious", "critical"].includes(v.impact)).map(v => v.id).join(" ") + " END" })"""
	print(page.replace("</body>", "<script>" + axe + "</script><script>" + run + "</script></body>"))
	EOP
	timeout 120 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$work/chromium" \
		--virtual-time-budget=20000 --dump-dom "file://$work/audit.html" 2>/dev/null >"$work/dom"
	grep -q 'AUDIT [0-9][0-9]*  *END' "$work/dom" || grep -o 'AUDIT.*END' "$work/dom" || echo "no audit"
}

find_axe() { # axe-core is no package of the distribution: npm's, or a file named by AXE_JS
	axe=${AXE_JS-}
	[ -n "$axe" ] && return
	command -v npm >/dev/null || return
	(cd "$work" && npm pack --silent axe-core >/dev/null 2>&1 && tar xf axe-core-*.tgz) || return
	axe=$work/package/axe.min.js
}

if command -v chromium >/dev/null; then
	ok "Chromium renders it without a complaint" silent rendered "$work/svc.html"
	if find_axe; then
		ok "axe-core finds nothing serious" silent audited "$work/svc.html"
	else
		skip "axe-core finds nothing serious" "no axe-core: npm cannot fetch it, AXE_JS names none"
	fi
else
	skip "Chromium renders it without a complaint" "no chromium here"
	skip "axe-core finds nothing serious" "no chromium here"
fi
