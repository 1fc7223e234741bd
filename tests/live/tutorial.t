#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# ispot-tutorial(7), from a slow program to a fixed one: its commands run as they stand there and say what the page
# tells of them. (How much, another machine may have otherwise.) And what it and README's pictures show looks as it
# does now; where not, `make tutorial` and `make pictures` renew them.
. "$(dirname "$0")/lib.sh"
needs_probes
page=$ROOT/man/ispot-tutorial.7
export ISPOT

"$ROOT/.make/tutorial" -n "$page" "$DIR" >tutorial.out 2>tutorial.err
is $? 0 "every command runs" || diag tutorial.err
is "$(wc -l <tutorial.err)" 6 "there are six commands" || diag tutorial.err
like 2.out 'pthread_mutex_lock' "the report names the mutex"
like 3.out '^Why slow calls are slow' "its slow calls are compared with the fast ones"

"$ISPOT" diff --json old.data -- new.data >diff.json
is "$(jq '[.blocks[] | select(.name == "cache_evict") | .after.min_ns / .before.min_ns | . > 0.8 and . < 1.25] | all' diff.json)" \
	true "no work is saved: the fastest eviction takes what it took"
taken=$(for f in old new; do "$ISPOT" report --json -i $f.data 2>/dev/null; done |
	jq -s '[.[].blocks[] | (.sci // 0) * ([.causes[] | select(.kind == "cpu-wait").share] | add // 0)] | max')
lock_lost() { # lock_lost FILE: of the time of its threads, what calls of the mutex's function wait for it
	"$ISPOT" report --json --no-key '*' -i "$1" 2>/dev/null | jq '[.blocks[] | select(.name == "pthread_mutex_lock")
		| (.sci // 0) * ([.causes[] | select(.kind == "lock").share] | add // 0)] | add // 0'
}
if awk "BEGIN { exit !($taken < 0.1) }"; then
	before=$(lock_lost old.data) after=$(lock_lost new.data)
	ok "$(awk "BEGIN { print !($after < $before / 2) }")" "less than half of the time is queued for the mutex: $before, then $after"
else
	skip "less than half of the time is queued for the mutex" "other programs have the CPUs"
fi

# Heads of tables, which are in capitals, and labels, as the page has them and as they were printed now.
heads() { sed 's/\\&//; s/<[^>]*>//g; s/\xc2\xa0/ /g' "$@" | grep -E '^ *(LOST|TIME|COUNT|SCI|CALLS)( +[A-Za-z0-9]+)+' | tr -s ' ' | sort -u; }
heads ./*.out >now
for page in "$page" "$ROOT/man/report.svg"; do
	heads "$page" >shown
	[ -s shown ] && [ -z "$(comm -13 now shown)" ]
	ok $? "$(basename "$page") has the heads of tables that there are now" || diag shown
done
grep -qF 'man/report.svg' "$ROOT/README.md" && grep -qF 'man/calls.svg' "$ROOT/README.md"
ok $? "README shows the pictures"
python3 - "$ROOT/man/report.svg" "$ROOT/man/calls.svg" <<-'EOP'
	import sys, xml.etree.ElementTree as tree
	for path in sys.argv[1:]:
	    words = " ".join(tree.parse(path).getroot().itertext())
	    assert "lost" in words or "slowest" in words, path
	EOP
ok $? "and they are pictures"
done_testing
