#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The paper's microbenchmarks: as many executions as were asked for, each of them seen and scored as the
# program's own clock has it. make paper QUICK=1: every part of the page is measured. Whether a claim of
# the paper comes out on a loaded machine is not judged here; those that did not are told.
. "$(dirname "$0")/lib.sh"
needs_probes

# program  pattern  block  calls  arguments
while read -r program pattern function calls arguments; do
	# shellcheck disable=SC2086 # arguments
	record_truth "$program" -F "$pattern" -- "$MB/$program" -n "$calls" $arguments
	is "$(block "$program" "$function" .calls)" "$calls" "$program $arguments: as many executions as were asked for"
	matches_truth "$program" calls sci
done <<-'EOR'
	paper_lock acquire acquire 10007 --hold-ns 16000
	paper_lock acquire acquire 10007 --spin 1 --hold-ns 16000
	paper_sharing marker:update_x update_x 1009 --turns 800 --stagger 10000
	paper_io read_block read_block 1009 -t 8 -d 200 --sleep 1 --stagger 2000
EOR

# in_time STATUS WHAT: by timeout(1): 124, or 137 where it had to be killed
in_time() {
	[ "$1" != 124 ] && [ "$1" != 137 ]
	ok $? "$2: measured within 15 minutes" || diag "tests/paper/run had not ended by then" error.txt
}

# Headings of the page that the full and the short runs have in common.
sections='Sections 4.1 and 4.2
The same with the mean as baseline
Sections 4.3 and 4.4
Section 4.5
More causes
Section 5.3
Section 5.4
Sections 5.2 and 5.5
Table 2
Section 5.5.3
Table 4 with memcached
Section 5.5.4
Section 5.6.1
Summary'

QUICK=1 SPLASH3='' PHOENIX='' PARTS="sweeps contention sampling causes overhead applications study perfume small" \
	timeout -k 10 900 "$ROOT/tests/paper/run" >page.txt 2>error.txt
status=$?
in_time "$status" "the page"
# 1: a claim did not come out, or Python has ended by an exception.
[ $status -le 1 ] && ! grep -q '^Traceback' error.txt
ok $? "the page is measured to its end" || tail -20 error.txt | sed 's/^/# /'
while read -r section; do
	grep -q "^$section" page.txt
	ok $? "it has: $section"
done <<<"$sections"
is "$(grep -c '</html>' "$ROOT/build/paper/paper.html")" 1 "it is written as HTML, whole"

# Of the other papers' studies what takes seconds: a made-up fleet, clustering.
QUICK=1 SPLASH3='' PARTS="datacenter lime" timeout -k 10 900 "$ROOT/tests/paper/run" >pages.txt 2>error.txt
status=$?
in_time "$status" "the other papers' pages"
[ $status -le 1 ] && ! grep -q '^Traceback' error.txt
ok $? "the other papers' pages are measured to their end" || tail -20 error.txt | sed 's/^/# /'
for figure in "Table I: " "Figures 1 and 2: " "Figures 3, 4 and 6: " "Figures 5 and 7: " "Figure 8: " "Tables 1 and 3: " \
	"Table 2: " "Figure 9: "; do
	grep -q "^$figure" pages.txt
	ok $? "they have: $figure"
done
is "$(grep -c '^holds  figure 8' pages.txt)" 2 "what was planted in the fleet is found, and nothing else" ||
	grep "figure 8" pages.txt | sed 's/^/# /'
is "$(cat "$ROOT"/build/paper/{datacenter,lime}.html | grep -c '</html>')" 2 "they are written as HTML, whole"
grep -E '^MISSED' page.txt | sed 's/^/# /'
done_testing
