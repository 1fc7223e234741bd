#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# ispot fleet record without end: files of a directory that are bounded, a recorder that is killed
# and another that goes on, and a cost that is said and kept.
. "$(dirname "$0")/lib.sh"
needs_probes
needs_helper neighbours hostile
cp "$HELPERS/neighbours" requests
./requests 3600 & target=$! && children+=("$target")

# Begins a recorder in DIR/days; its process is $recorder, what it says in $1.err.
start() {
	"$ISPOT" fleet record -F marker:request -p $target --dir days --files 3 --file-size 4K \
		--duty 500ms/501ms >"$1.out" 2>"$1.err" &
	recorder=$!
	children+=("$recorder")
}
newest() { find days -name '*.fleet' -printf '%f\n' 2>/dev/null | sort | tail -1 | tr -dc 0-9 | sed 's/^0*//'; }
count() { find days -name '*.fleet' | wc -l; }
reaches() { [ "0$(newest)" -ge "$1" ]; }
reduced() { "$ISPOT" fleet reduce --db "$1.db" days/*.fleet >"$1.reduced" 2>&1; }
of() { "$ISPOT" fleet report --db "$1.db" --min-samples 1 --json | jq "$2"; }

start first
eventually reaches 1
ok $? "a recorder begins a file" || diag first.err
"$ISPOT" fleet record -F marker:request -p $target --dir days >second.out 2>second.err
is $? 1 "a second one in the same directory is refused"
like second.err "days: another ispot fleet record writes there" "and why is said"
eventually reaches 4
ok $? "and one after the other" || diag first.err
is "$(($(count) <= 3))" 1 "three at most are kept"
is "$(($(find days -name '*.fleet' -printf '%s\n' | sort -n | tail -1) < 4000000))" 1 "none is larger than it should be and a block"
like first.err "days: file [0-9]+: [0-9.kM]+ samples so far, and to watch the CPUs took [0-9.]+% of their time" "what it costs is said with each file"
like <(grep -m1 ": file 1: " first.err) ", ([1-9][0-9.]*|0[.]0?[1-9][0-9]*)% taken from others" "and the first window's is in it" || diag first.err
rss() { awk '/VmRSS/ { print $2 }' "/proc/$recorder/status"; }
before=$(rss)
n=$(newest)
eventually reaches $((n + 2))
ok $? "two files later" || diag first.err
small() { [ "$(rss)" -lt $((before + 20480)) ]; } # not while it reads a busy window
eventually small
ok $? "it has no 20 MB more memory" || diag "$before kB, $(rss) kB"

kill -9 $recorder
wait $recorder 2>/dev/null
n=$(newest)
reduced killed
is $? 0 "what a killed recorder leaves can be reduced" || diag killed.reduced
samples=$(of killed .fleet.samples)
is "$((samples > 100))" 1 "and has samples" || diag "$samples"
start third
eventually reaches $((n + 1))
ok $? "another recorder goes on with the next file" || diag third.err
is "$(($(count) <= 3))" 1 "and keeps three"
reduced killed
is $? 0 "its samples are added"
is "$(($(of killed .fleet.samples) > samples))" 1 "to those of before" || diag "$(of killed .fleet)"
kill -TERM $recorder
wait $recorder
is $? 0 "a signal ends it in order" || diag third.err
like third.err "samples of duration of request, .* to watch the CPUs took" "with what it did"
is "$(find days -name 'window*' | wc -l)" 0 "no recording of a window is left"

# More calls than a window may record.
"$HELPERS/hostile" flood 120 4 >flood.out & flood=$! && children+=("$flood")
started $flood hostile
"$ISPOT" fleet record -F flood_call -p $flood --dir flood --files 1 --file-size 4K --duty 6s/6001ms -d 8 >flood.log 2>flood.err &
recorder=$!
children+=("$recorder")
most=0
while kill -0 $recorder 2>/dev/null; do
	size=$(stat -c %s flood/window.data 2>/dev/null)
	[ "0$size" -le "$most" ] || most=$size
	sleep 0.02
done
wait $recorder
is $? 0 "more calls than fit into the directory" || diag flood.err
[ "$most" -gt 100000 ] && [ "$most" -le 262144 ]
ok $? "are recorded as far as they do" || diag "$most bytes" "$(cat flood.err)"
like flood.err "more calls or context switches than are kept.*--file-size" "which is said"
kill $flood

# What a window costs here decides how many there are.
"$ISPOT" fleet record -F marker:request -p $target --cost 4 -d 25 -o cost.fleet >cost.out 2>cost.err
is $? 0 "a bound on the cost" || diag cost.err
like cost.err "took [0-9.]+% of their time \([0-9.]+% its own, [0-9.]+% taken from others\), [0-9]+% of it were watched" "what was measured is said"
share=$(sed -n 's/.* took \([0-9.]*\)% of their time.*/\1/p' cost.err) watched=$(sed -n 's/.* \([0-9]*\)% of it were.*/\1/p' cost.err)
"$ISPOT" fleet record -F marker:request -p $target --duty 1s/1001ms -d 6 -o all.fleet >all.out 2>all.err
all=$(sed -n 's/.* took \([0-9.]*\)% of their time.*/\1/p' all.err)
if awk -v s="$all" 'BEGIN { exit !(s > 6) }'; then
	awk -v s="$share" 'BEGIN { exit !(s <= 5) }'
	ok $? "the bound is kept" || diag "$share% of 4% allowed, $all% without"
	is "$((watched < 90))" 1 "by rests" || diag "$watched %"
elif awk -v s="$all" 'BEGIN { exit !(s < 3) }'; then
	is "$((watched > 50))" 1 "it rests little where it costs little" || diag "$watched %, $all% without"
else
	skip "how much it rests" "without a bound it costs $all %, about what is allowed"
fi
"$ISPOT" fleet record -F marker:request -p $target --cost 4 --duty 1s/2s -d 1 >both.out 2>both.err
is $? 2 "a bound and a duty cycle are refused"
"$ISPOT" fleet record -F marker:request --dir days -- ./requests 1 >command.out 2>command.err
is $? 2 "so is a command, which ends, with --dir"
done_testing
