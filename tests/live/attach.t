#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Attaches to a program that creates 200 threads a second miss no call of a thread that was at least
# 10 ms old when recording began. The program notes each of its calls. ATTACHES: how many (20; 50 for
# a long run).
. "$(dirname "$0")/lib.sh"
needs_probes

ATTACHES=${ATTACHES:-20}
"$MB/spawner" --seconds 300 --log spawner.log >spawner.out &
spawner=$!
children+=("$spawner")
started "$spawner" spawner

failed=0
for i in $(seq "$ATTACHES"); do
	"$ISPOT" record -o "a$i.data" -p "$spawner" -d 0.2 -F spawned_call 2>"a$i.err" || {
		failed=$((failed + 1))
		diag "a$i.err"
	}
done
is "$failed" 0 "$ATTACHES attaches, each with status 0"
kill -0 "$spawner" 2>/dev/null
ok $? "the program is still alive"
kill -TERM "$spawner"
wait "$spawner"
is $? 0 "the program ends as it would"

# missed I: calls inside of recording I by threads old enough at its start, without an entry
# record between their stamps. The window is where the probes fire, as dump tells.
missed() {
	"$ISPOT" dump -i "a$1.data" >"a$1.dump" 2>"a$1.err" || return 1
	awk -f "$ROOT/tests/live/missed.awk" "a$1.dump" spawner.log
}

total=0 missing=0
for i in $(seq "$ATTACHES"); do
	read -r calls lacking < <(missed "$i")
	total=$((total + ${calls:-0}))
	missing=$((missing + ${lacking:-0}))
	[ "${lacking:-1}" = 0 ] || diag "attach $i: ${lacking:-?} of $calls missed"
	rm -f "a$i.dump"
done
[ "$total" -gt "$ATTACHES" ]
ok $? "the windows hold calls" || diag "calls: $total"
is "$missing" 0 "no call missed of $total"

done_testing
