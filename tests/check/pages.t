#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Every kind of HTML page that ispot makes keeps nobody out: axe-core finds nothing serious in it, all of
# it unfolded, in light and in dark.
. "$(dirname "$0")/lib.sh"

work=$planted/pages
mkdir "$work"
. "$top/tests/check/page.sh"
if ! command -v chromium >/dev/null; then
	skip "axe-core finds nothing serious" "no chromium here"
	exit
elif ! find_axe; then
	skip "axe-core finds nothing serious" "no axe-core: npm cannot fetch it, AXE_JS names none"
	exit
fi

accessible() { # accessible NAME: $work/NAME.html, in both schemes
	ok "$1: axe-core finds nothing serious" silent audited "$work/$1.html"
	ok "$1: nor in dark" silent audited "$(dark "$work/$1.html")"
}

# Reports that have each of the parts: locks and waits, call sites and stacks, loss, bursts, keys, sequences,
# counters, markers.
for golden in svc callsites sites loss burst keys; do
	"$ISPOT" dump --from-text "tests/golden/$golden.trace" -o "$work/$golden.data"
	"$ISPOT" report -i "$work/$golden.data" --html "$work/$golden.html"
	accessible "$golden"
done

# and the graph of what threads do after what
for states in function sequence; do
	"$ISPOT" dump --from-text tests/golden/transition.trace -o "$work/graph.data"
	"$ISPOT" report -i "$work/graph.data" --by transition --states $states --html "$work/graph-$states.html"
	accessible graph-$states
done

# and what divergent executions called
for golden in outliers calltree; do
	"$ISPOT" dump --from-text "tests/golden/$golden.trace" -o "$work/$golden.data"
	"$ISPOT" outliers -i "$work/$golden.data" --html "$work/$golden.html"
	accessible $golden
done

"$ISPOT" dump --from-text tests/golden/imbalance.trace -o "$work/imbalance.data"
"$ISPOT" imbalance -i "$work/imbalance.data" --html "$work/imbalance.html"
accessible imbalance
# with the lines to blame
if command -v valgrind >/dev/null; then
	"$ISPOT" imbalance --html "$work/lines.html" -- build/microbench/uneven --case mix -t 5 >/dev/null 2>&1
	ok "lines: there are some" grep -q 'data-key="score"' "$work/lines.html"
	accessible lines
else
	skip "axe-core finds nothing serious in lines to blame" "no valgrind here"
fi

python3 - tests/paper "$work/paper.html" <<'EOP'
import sys
sys.path.insert(0, sys.argv[1])
import page, svg
p = page.Page("The evaluation")
p.heading("Sections 4.1 and 4.2")
p.paragraph("A point is a median.")
p.claim("came out", True)
p.claim("did not", False)
p.table(["column %d" % i for i in range(30)], [["a long cell of words"] * 29 + [0.5], [False] * 29 + [None]])
p.figures("Figure 7", [svg.plot([0, 1, 2], [("fast", [0, 1, 2], "a"), ("slow", [2, 1, 0], "b")], "delay", "SCI", [(0, 1)] * 3)])
open(sys.argv[2], "w").write(p.html())
EOP
accessible paper

# A page that keeps people out is found to.
sed 's|</h1>|</h1><p style="color:#999;background:#aaa">hardly to be read</p>|' "$work/svc.html" >"$work/bad.html"
catches "what is hardly to be read" color-contrast audited "$work/bad.html"
