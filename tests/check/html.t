#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The HTML report: well-formed, nothing fetched, names escaped, bounded, and with the numbers that
# CSV has. Looked at by Python's parser, and by Chromium where there is one.
# What keeps people out of it is looked for in pages.t.
. "$(dirname "$0")/lib.sh"

work=$planted/html
mkdir "$work"
. "$top/tests/check/page.sh"
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
# and one whose names are as long as C++ has them
long=$(printf 'std::map<std::string, std::vector<int>>::%.0s' 1 2 3 4 5 6 7 8 9)
sed -e "s|\"name\":\"\([^\"]*\)\",\"symbol\"|\"name\":\"$long\1(int)\",\"symbol\"|" tests/golden/svc.trace |
	"$ISPOT" dump --from-text - -o "$work/long.data"
"$ISPOT" report -i "$work/long.data" --html "$work/long.html"
for golden in callsites sites loss burst keys; do
	"$ISPOT" dump --from-text "tests/golden/$golden.trace" -o "$work/$golden.data"
	"$ISPOT" report -i "$work/$golden.data" --html "$work/$golden.html"
done
"$ISPOT" report -i "$work/hostile.data" --by transition --html "$work/graph.html"

# Two thousand functions with long names full of markup, of a hundred calls each, in 300 threads
# named alike, with losses all along, stacks of many frames, notices and functions not traced.
many() {
	awk 'BEGIN {
		for (i = 0; i < 40; i++) long = long "<a&b\\\"\x27>"
		for (f = 0; f < 2000; f++)
			printf "{\"kind\":\"function\",\"id\":%d,\"name\":\"f%d%s\",\"symbol\":\"f%d\"}\n", f, f, long, f
		for (i = 0; i < 500; i++) {
			printf "{\"kind\":\"notice\",\"code\":\"n%d\",\"text\":\"%s\"}\n", i, long
			printf "{\"kind\":\"not-traced\",\"name\":\"g%d%s\",\"reason\":\"%s\"}\n", i, long, long
			printf "{\"kind\":\"thread\",\"tid\":%d,\"tgid\":7,\"comm\":\"<b>&\\\"%d\"}\n", i + 7, i
		}
		t = 1000000000
		for (i = 0; i < 105; i++) for (f = 0; f < 2000; f++) {
			tid = 7 + (f + i) % 300
			printf "%d 0 %d/7 entry @%d\n%d 0 %d/7 exit @%d\n", t, tid, f, t + 100 + (i * f) % 1977, tid, f
			if (f % 50 == 0) printf "%d 0 0/0 lost 3 since=%d\n", t + 2200, t + 2100
			t += 2500
		} }' >"$work/many.trace"
	"$ISPOT" dump --from-text "$work/many.trace" -o "$work/many.data" &&
		"$ISPOT" report -i "$work/many.data" --html "$work/many.html" &&
		[ "$(stat -c %s "$work/many.html")" -le 2000000 ] && return
	stat -c '# %s bytes' "$work/many.html"
	return 1
}

# Sixty functions of which each fifth call is long: so many executions to draw.
many_outliers() {
	awk 'BEGIN { t = 1000000000; for (i = 0; i < 1100; i++) for (f = 0; f < 60; f++) {
		d = 2000 + (i * 7919 + f * 31) % 997 + (i % 5 == 0) * (50000 + i % 77 * 100)
		printf "%d 0 7/7 entry f%d\n%d 0 7/7 exit f%d\n", t, f, t + d, f
		t += d + 1000
	} }' | "$ISPOT" dump --from-text - -o "$work/rare.data" &&
		"$ISPOT" outliers -i "$work/rare.data" --html "$work/rare.html" &&
		[ "$(stat -c %s "$work/rare.html")" -le 2000000 ]
}

# Two hundred and fifty sections of seventy threads; all names are markup.
many_sections() {
	awk 'BEGIN {
		for (i = 0; i < 20; i++) long = long "<a&b\\\"\x27>"
		print "{\"kind\":\"session\",\"version\":1,\"command\":\"" long "\",\"program\":\"<b>\",\"pid\":100,\"start_ns\":0,\"clock\":\"monotonic\",\"cpus\":4,\"period\":1,\"pmu\":\"none\",\"producer\":\"synthetic\",\"kernel\":\"6.18.0\"}"
		print "{\"kind\":\"object\",\"id\":0,\"path\":\"/bin/<i>\"}"
		print "{\"kind\":\"function\",\"id\":0,\"set\":1,\"name\":\"pthread_barrier_wait\",\"symbol\":\"pthread_barrier_wait\",\"object\":0,\"block\":\"function\",\"exit\":\"return\",\"class\":\"nop5\",\"probe_offset\":0}"
		for (i = 0; i < 250; i++) {
			printf "{\"kind\":\"frame\",\"id\":%d,\"symbol\":\"f%d%s\",\"object\":\"/bin/<i>\",\"file\":\"<u>.c\",\"line\":%d,\"offset\":%d,\"inlined\":false}\n", i, i, long, i + 1, 16 * i
			printf "{\"kind\":\"stack\",\"id\":%d,\"frames\":[%d]}\n", i + 1, i
			printf "{\"kind\":\"site\",\"id\":%d,\"function\":0,\"stack\":%d}\n", 1048576 + i, i + 1
		}
		for (k = 1; k <= 70; k++)
			printf "{\"kind\":\"thread\",\"tid\":%d,\"tgid\":100,\"comm\":\"<s>&%d\"}\n%d 0 100/100 fork child=%d tgid=100\n", 100 + k, k, 20000 + k, 100 + k
		t = 1000000
		for (i = 0; i < 500; i++) {
			for (k = 1; k <= 70; k++)
				printf "%d 0 %d/100 entry @%d sp=0x1000\n%d 0 %d/100 args mask=0x1 4096\n", t + k * 1000, 100 + k, 1048576 + i % 250, t + k * 1000, 100 + k
			for (k = 1; k <= 70; k++)
				printf "%d 0 %d/100 exit pthread_barrier_wait sp=0x1000\n", t + 80000 + k, 100 + k
			t += 100000
		} }' >"$work/sections.trace"
	"$ISPOT" dump --from-text "$work/sections.trace" -o "$work/sections.data" &&
		"$ISPOT" imbalance -i "$work/sections.data" --html "$work/sections.html" &&
		[ "$("$ISPOT" imbalance -i "$work/sections.data" --json | jq '.sections | length')" -ge 250 ] &&
		[ "$(stat -c %s "$work/sections.html")" -le 2000000 ] && return
	stat -c '# %s bytes' "$work/sections.html"
	return 1
}

# Of the first block's executions the first one listed is the worst.
worst_first() {
	local listed
	listed=$(sed -n '/id="block0"/,$p' "$work/rare.html" | grep -o -m1 '<tr><td>[0-9]*' | head -1 | tr -dc 0-9)
	"$ISPOT" outliers -i "$work/rare.data" --json | jq -e --argjson i "${listed:--1}" '.blocks[0].divergent_executions |
		(map(.residual_ns) | max) == (map(select(.index == $i)) | .[0].residual_ns)' >/dev/null
}

# The golden call tree, of functions whose names are markup.
called() {
	{
		printf '{"kind":"function","id":%d,"name":"<i>%s&amp;","symbol":"%s"}\n' 0 serve serve 1 look look 2 touch touch \
			3 fill fill 4 fetch fetch 5 grow grow
		sed -E 's/(entry|exit) serve/\1 @0/; s/(entry|exit) look/\1 @1/; s/(entry|exit) touch/\1 @2/; s/(entry|exit) fill/\1 @3/
			s/(entry|exit) fetch/\1 @4/; s/(entry|exit) grow/\1 @5/' tests/golden/calltree.trace
	} >"$work/called.trace"
	"$ISPOT" dump --from-text "$work/called.trace" -o "$work/called.data" &&
		"$ISPOT" outliers -i "$work/called.data" --html "$work/called.html"
}

# trees HTML DATA: where the lists of calls are not the trees that JSON has
trees() {
	"$ISPOT" outliers -i "$2" --json >"$work/called.json"
	python3 - "$1" "$work/called.json" <<-'EOP'
	import html.parser, json, sys
	class Lists(html.parser.HTMLParser):
	    def __init__(self):
	        super().__init__()
	        self.trees, self.stack, self.inside, self.quiet = {}, [], False, 0
	    def handle_starttag(self, tag, attrs):
	        if tag == "summary":
	            self.text, self.inside = "", True
	        elif tag == "span":
	            self.quiet += 1
	        elif tag == "li" and self.stack:
	            self.stack[-1].append(["", []])
	            self.stack.append(self.stack[-1][-1][1])
	        elif tag == "details" and self.stack:
	            print("lists in each other")
	    def handle_data(self, data):
	        if self.inside:
	            self.text += data
	        elif len(self.stack) > 1 and not self.quiet:
	            self.stack[-2][-1][0] += data.strip()
	    def handle_endtag(self, tag):
	        if tag == "summary":
	            self.inside = False
	            if self.text.startswith("Callees of "):
	                self.stack = [self.trees.setdefault((len(self.trees), int(self.text.split()[3])), [])]
	        elif tag == "span":
	            self.quiet -= 1
	        elif tag == "li" and self.stack:
	            self.stack.pop()
	        elif tag == "details":
	            self.stack = []
	page = Lists()
	page.feed(open(sys.argv[1], encoding="utf-8").read())
	def plain(callees):
	    return [[c["name"], plain(c["callees"])] for c in callees]
	want = [(x["index"], plain(x["callees"])) for b in json.load(open(sys.argv[2]))["blocks"]
	        for x in sorted(b["divergent_executions"], key=lambda x: -x["residual_ns"])[:10] if x["callees"]]
	got = [(index, tree) for (_, index), tree in page.trees.items()]
	if got != want or not any(len(str(t)) > 100 for _, t in want):
	    print("the page has", got, "JSON", want)
	EOP
}

# links FILE: those that lead nowhere
links() {
	grep -o 'href="#[^"]*"' "$1" | sed 's/href="#\(.*\)"/\1/' | while read -r id; do
		grep -qF "id=\"$id\"" "$1" || echo "$id"
	done
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
sed 's|<rect [^>]*|& onclick="f()" y="nan"|; s|</h2>|<br></h2><p> </p>|' "$work/svc.html" >"$work/wrong.html"
catches "what does something when it is clicked" "onclick" parsed "$work/wrong.html"
catches "a place that is no number" "no number in rect" parsed "$work/wrong.html"
catches "what is empty" "there is nothing in p" parsed "$work/wrong.html"
catches "what is not closed" "unexpected end of h2" parsed "$work/wrong.html"
ok "its numbers are those of --csv" silent numbers "$work/svc.html" "$work/svc.csv"
ok "it draws the callers of a block" grep -q 'aria-label="Callers, by excess"' "$work/callsites.html"
ok "it says who ended whose waiting" grep -q '<h2 id="waits">' "$work/sites.html"
ok "its time has an axis" grep -q 'aria-label="Time since the start' "$work/svc.html"
# labelled: prints the charts of executions that have no two marks on each axis, or whose axes have no names. Durations of
# one decade, as 2 to 8 us, have marks as well.
labelled() {
	local low high
	while read -r low high; do
		awk -v low="$low" -v high="$high" 'BEGIN { t = 1000000000; for (i = 0; i < 300; i++) {
			d = low + (i * 7919) % (high - low)
			printf "%d 0 7/7 entry f\n%d 0 7/7 exit f\n", t, t + d
			t += d + 1000
		} }' | "$ISPOT" dump --from-text - -o "$work/axes.data" &&
			"$ISPOT" outliers -i "$work/axes.data" --html "$work/axes.html" || echo "no page of $low to $high ns"
		grep -o '<svg.*aria-label="Durations of calls.*</svg>' "$work/axes.html" | sed 's/<title>[^<]*//g; s/<text/\n&/g' >"$work/axes"
		[ "$(grep -c 'x="57.0".*text-anchor="end">[0-9.]*[a-z]*s<' "$work/axes")" -ge 2 ] || echo "$low to $high ns: durations have no marks"
		[ "$(grep -c 'y="250.0".*>[0-9]*<' "$work/axes")" -ge 2 ] || echo "$low to $high ns: calls have no marks"
		grep -q '>duration<' "$work/axes" && grep -q '>call<' "$work/axes" || echo "$low to $high ns: no names"
	done
}
ok "executions' axes have marks and names" silent labelled <<<$'2000 8000\n411 423\n700 2000000'
ok "on which losses are gaps" grep -q '<rect class="gap"' "$work/loss.html"
ok "and the pauses of bursts" grep -q '<rect class="pause"' "$work/burst.html"
ok "calls that are split by arguments are told apart" grep -q '>write fd=3 count=' "$work/keys.html"
ok "names that are markup stay text" silent parsed "$work/hostile.html"
ok "and in the graph of transitions" silent parsed "$work/graph.html"
ok "which has their boxes" grep -q 'class="state"' "$work/graph.html"
ok "and are shown" grep -q '&lt;script&gt;alert(2)&lt;/script&gt;' "$work/hostile.html"
# Nothing was recorded: a page has fewer parts, none that is empty.
"$ISPOT" dump --from-text tests/golden/empty.trace -o "$work/empty.data"
for kind in report outliers; do
	"$ISPOT" $kind -i "$work/empty.data" --html "$work/empty.html"
	ok "$kind: of nothing there is a page that is well-formed" silent parsed "$work/empty.html"
done
# Waiting places have no object, which is the first of a block's facts.
separated() { grep -c '<p class="quiet"> · ' "$work/sites.html" | grep -v '^0$'; }
ok "a block's facts are separated where the first is not known" silent separated
{
	cat tests/golden/empty.trace
	echo '{"kind":"notice","code":"too-short","text":"it was too <short>"}'
} | "$ISPOT" dump --from-text - -o "$work/short.data"
"$ISPOT" report -i "$work/short.data" --html "$work/short.html"
ok "where no block is the answer, a notice says why before the table" [ "$(sed '/<h2 id="blocks"/,$d' "$work/short.html" |
	grep -c '<p>it was too &lt;short&gt;')" = 1 ]
ok "a name is in the title without ending it" silent numbers "$work/hostile.html" \
	<("$ISPOT" report -i "$work/hostile.data" --csv)
ok "2000 functions, 300 threads and 4000 losses make at most 2 MB" many
ok "that is well-formed" silent parsed "$work/many.html"
ok "and says what it left out" grep -q "more functions are left out here" "$work/many.html"
ok "executions of 60 functions make at most 2 MB" many_outliers
ok "of which the worst are listed, not the first" worst_first
ok "that are well-formed" silent parsed "$work/rare.html"
ok "whose links lead somewhere" silent links "$work/rare.html"
ok "and that say what they left out" grep -q "more functions are not drawn" "$work/rare.html"

ok "what a divergent execution called is there" called
ok "as the tree that JSON has" silent trees "$work/called.html" "$work/called.data"
ok "names that are markup stay text in it" silent parsed "$work/called.html"
sed 's|</span><ul>|</span></li><ul>|' "$work/called.html" >"$work/flat.html"
catches "a tree that is flat" 'the page has' trees "$work/flat.html" "$work/called.data"

# The first viewport answers: how much is lost, its first cause, what to do next.
cat >"$work/look.js" <<-'EOP'
	const out = []
	for (const id of ["[data-key=lost]", "#cause", "#next"]) {
		const box = document.querySelector(id)?.getBoundingClientRect()
		if (!box || !box.width || box.bottom > Math.min(innerHeight, 800) || box.right > 1280)
			out.push(id + (box ? " ends at " + box.right + "," + box.bottom : " is not there"))
	}
	if (innerWidth > 1280 || document.documentElement.scrollWidth > innerWidth) out.push("it is wider than the window")
	document.body.innerHTML = "<pre id=look></pre>"
	document.getElementById("look").textContent = "LOOK " + out.join("; ") + " END"
EOP
looked() { told LOOK "$1" "$work/look.js" | grep -v '^LOOK  END'; }

# Every region that scrolls, link and fold is reached with the Tab key, once it is unfolded.
cat >"$work/keys.js" <<-'EOP'
	for (const d of document.querySelectorAll("details"))
		d.open = true
	const all = [...document.querySelectorAll("a[href],summary,.scroll,pre")].filter(e =>
		e.matches("a,summary,.scroll") || e.scrollWidth > e.clientWidth)
	const bad = all.filter(e => { e.focus(); return document.activeElement !== e })
	const targets = [...document.querySelectorAll("a[href]")].filter(a =>
		!document.querySelector(a.getAttribute("href")))
	document.body.innerHTML = "<pre id=keys></pre>"
	document.getElementById("keys").textContent = "KEYS " + all.length + " " +
		bad.map(e => e.outerHTML.slice(0, 60)).join("; ") + targets.map(a => a.hash).join(" ") + " END"
EOP
reached() { told KEYS "$1" "$work/keys.js" | grep -v '^KEYS [1-9][0-9]*  *END'; }

# printed FILE WORDS: as on paper, where all that is folded is there, the words at least twice
printed() {
	timeout 120 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$work/chromium" \
		--no-pdf-header-footer --print-to-pdf="$work/page.pdf" "file://$1" 2>/dev/null
	pdftotext -layout "$work/page.pdf" "$work/page.txt" || return
	[ "$(grep -c "$2" "$work/page.txt")" -ge 2 ] || echo "what is folded is not printed"
}

ok "250 sections of 70 threads whose names are markup stay under 2 MB" many_sections
ok "their page is well-formed and fetches nothing" silent parsed "$work/sections.html"
ok "its links lead somewhere" silent links "$work/sections.html"
if command -v chromium >/dev/null; then
	ok "Chromium renders it without a complaint" silent rendered "$work/svc.html"
	ok "the first viewport shows lost time, first cause and next command" silent looked "$work/svc.html"
	ok "also of names that fill lines" silent looked "$work/long.html"
	ok "all of it is reached with the keyboard, and links lead somewhere" silent reached "$work/many.html"
	ok "that of uneven sections, too" silent reached "$work/sections.html"
	ok "that of divergent executions with their calls, too" silent reached "$work/called.html"
	if command -v pdftotext >/dev/null; then
		ok "on paper nothing is folded" silent printed "$work/svc.html" 'How many calls took how long'
		sed 's/<details open>/<details>/' "$work/called.html" >"$work/folded.html"
		ok "nor what executions called" silent printed "$work/folded.html" 'fetch&amp; *2 times'
	else
		skip "on paper nothing is folded" "no pdftotext (poppler-utils)"
	fi
else
	skip "Chromium renders it without a complaint" "no chromium here"
fi
