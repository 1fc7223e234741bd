#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# ispot fleet with two indicators in one recording: the duration of a marker, and of the function that does its work. What
# others on the CPUs cost is in both, in the same blocks.
. "$(dirname "$0")/lib.sh"
needs_probes

needs_helper neighbours
for name in requests hungry; do cp "$HELPERS/neighbours" "$name"; done
./hungry & children+=($!)
started $! hungry
./requests 600 & children+=($!)
requests=$!
started $requests requests
# matched JQ: of the pairs of requests that both indicators have in three blocks or more
matched() { jq -r "[.pairs[] | select((.base | startswith(\"requests@\")) and .matched.blocks >= 3)] | $1" report.json; }
report() { "$ISPOT" fleet report --db two.db --json "$@"; }

# Until there is enough to say something, of whoever had the CPUs meanwhile: once is usual.
for round in {1..10}; do
	"$ISPOT" fleet record -o "$round.fleet" --indicator duration -F marker:request -F work -d 4 -p $requests >record.out 2>record.err || break
	"$ISPOT" fleet reduce --db two.db "$round.fleet" >reduce.out 2>&1 || break
	report --beside "duration of work" >report.json 2>report.err || break
	[ "$(matched length)" -eq 0 ] || break
done
[ "$(matched length)" -gt 0 ]
ok $? "two indicators are recorded, and compared block by block" || diag "$(cat record.err reduce.out report.err)"
like record.err "samples of duration of request, duration of work, " "which is said" || diag record.err
is "$(tail -c +17 1.fleet | head -c "$(($(od -An -tu4 -j8 -N4 1.fleet)))" | jq -c '[.version, [.indicators[].name]]')" \
	'[2,["duration of request","duration of work"]]' "the file lists them" || diag record.err
is "$(jq -r '[.fleet.indicator, .beside.indicator] | join(", ")' report.json)" "duration of request, duration of work" "both are reported"
# Every request is one call of the function, and as long, so whoever was there both say much the same of it.
is "$(matched 'all(.matched | (1 + .contrast) / (1 + .beside) | . > 0.5 and . < 2)')" true "both say the same of it" ||
	diag "$(matched 'map([.corunner, .class, .matched]) | tojson')"
report --indicator "duration of work" >work.json 2>work.err
is "$(jq -r '.fleet | [.indicator, .unit, .higher_is_better] | tojson' work.json)" '["duration of work","ns",false]' "the second has a report of its own"
is "$(jq '[.applications[] | select(.name | startswith("requests@"))][0].samples > 100' work.json)" true "with samples" || diag work.json

"$ISPOT" fleet record -o no.fleet --indicator duration -F marker:request -F work --to clickhouse://localhost:1/x -- ./requests 0.1 >to.out 2>to.err
is $? 2 "servers get one of them"
like to.err "servers have one indicator in a database" "which is said" || diag to.err
# One pattern may be of several functions, as is known when they were called.
if command -v python3 >/dev/null && ldconfig -p | grep -q libcurl.so; then
	python3 "$ROOT/tests/live/yes.py" >port & children+=($!)
	for _ in {1..100}; do [ -s port ] || sleep 0.1; done
	"$ISPOT" fleet record --indicator duration -F '[nw]o[wr][_k]*' --to "clickhouse://127.0.0.1:$(cat port)/x" -- ./requests 0.5 >to.out 2>to.err
	is $? 2 "also of a pattern that matches several functions"
	like to.err "servers have one indicator in a database" "which is said" || diag to.err
fi
if ! compgen -G '/sys/bus/event_source/devices/cpu*' >/dev/null &&
	! compgen -G '/sys/bus/event_source/devices/armv8_*' >/dev/null; then
	"$ISPOT" fleet record --indicator ipc,llc-misses -d 1 >ipc.out 2>ipc.err
	is $? 1 "counters without a PMU are refused"
	like ipc.err "IPC cannot be measured: .*-F marker" "with the reason and a way out"
fi
done_testing
