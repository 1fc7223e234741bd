#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# `ispot outliers` of a native server under load: commands that hold redis's one thread up, planted among
# thousands that do not, are found, all of them, with what they did.
. "$(dirname "$0")/lib.sh"
needs_probes
needs_command jq redis-server redis-cli redis-benchmark

port=$((20000 + $$ % 20000))
redis-server --port $port --save '' --appendonly no --enable-debug-command yes --dir "$DIR" >redis.log 2>&1 &
redis=$!
children+=("$redis")
eventually redis-cli -p $port ping >/dev/null 2>&1
redis-cli -p $port debug populate 200000 >keys.out

# Seven that sleep and five that look at all keys, among the load's 20011.
cat >load <<EOF
redis-benchmark -p $port -q -c 4 -n 20011 -t set >bench.out 2>&1 &
for i in 1 2 3 4 5 6 7; do
	redis-cli -p $port debug sleep 0.06
	[ \$i -gt 5 ] || redis-cli -p $port keys 'nothing*'
done
wait
EOF
"$ISPOT" record -q -o redis.data -F call -F keysCommand -F debugCommand -F setCommand -p $redis -- sh load >load.out 2>load.err
is $? 0 "recorded under load" || diag load.err
"$ISPOT" outliers --json -i redis.data >redis.json
kill $redis

jq '[.blocks[] | select(.name == "call")][0]' redis.json >call.json
# with: of the divergent executions those that called it
with() { jq --arg f "$1" '[.divergent_executions[] | select(any(.callees[]?; .name == $f))]' call.json; }
with debugCommand >sleeps
with keysCommand >scans
is "$(jq length sleeps)" 7 "every planted sleep is a divergent execution of call" || diag call.json
is "$(jq -c '[.[].duration_ns >= 60000000] | unique' sleeps)" "[true]" "as long as it was"
is "$(jq -c '[.[].callees[] | select(.name == "debugCommand") | .typical_calls] | unique' sleeps)" "[0]" \
	"and that typical ones do not call it is said"
# On a busy machine what follows the sleep may be the longer part.
is "$(jq '[.[] | select(.cause == "sleep")] | length >= 4' sleeps)" true "its cause is the sleep" || diag sleeps
is "$(jq '[.[] | select(.evidence | test("slept"))] | length >= 4' sleeps)" true "with for how long it slept"
is "$(jq '[.[] | select(.duration_ns > 4000000)] | length >= 4' scans)" true "the looks at all keys are, too" || diag call.json
# They run, where they are not kept from it.
is "$(jq -c '[.[].cause] - ["slow-path", "cpu-wait"]' scans)" "[]" \
	"their cause is the other command that they run, or that they had no CPU" || diag scans
is "$(jq -c '[.[] | select(.cause == "slow-path") | .evidence | test("keysCommand took .*typical calls do not reach it")] | all' scans)" \
	true "which is named"
is "$(jq '[.divergent_executions[] | select(.cause != "cpu-wait")] | sort_by(-.duration_ns)[:7] |
	all(any(.callees[]?; .name == "debugCommand" or .name == "keysCommand"))' call.json)" true \
	"of those that had a CPU the longest are planted ones" || diag call.json

done_testing
