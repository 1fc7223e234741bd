#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# ispot fleet with instructions per cycle as the indicator. Machines without a hardware PMU skip (that
# they refuse says fleet.t); `make test-vm` runs this in an emulated arm64 machine that has one.
. "$(dirname "$0")/lib.sh"
needs_probes
[ "$("$ISPOT" list --json | jq '[.counters[] | select((.name == "instructions" or .name == "cycles") and .usable)] | length')" = 2 ] ||
	skip_all "no hardware PMU here"

fleet() { "$ISPOT" fleet "$@"; }
# said JQ FILE.db: of its report
said() { fleet report --db "$2" --min-samples 20 --json | jq -r "$1"; }
# header FILE: what it says of the indicator
header() { head -c 400 "$1" | awk 'match($0, /"indicator".*,"by"/) { print substr($0, RSTART, RLENGTH - 5) }'; }
# A program that computes, in an application of its own.
cp /bin/awk ./busy
busy() { ./busy "BEGIN { while (n++ < $1); exit ${2-0} }"; }

# Periods: an emulated CPU says at its ticks only, each 4 ms or 4 million instructions, that one is over; and on a
# single CPU the recorder, which looks each 20 ms, is in every sample that lasts as long.
fleet record -o one.fleet --period 3500000 -- ./busy 'BEGIN { while (n++ < 16000000); exit 7 }' >one.out 2>one.err
is $? 7 "record ends with the command, and with its status" || diag one.err
like one.err 'samples of ipc, [0-9]+ applications were seen, and to watch the CPUs took [0-9.]+% of their time' "what it took is said"
is "$(header one.fleet)" '"indicator":"ipc","unit":"1e-6","higher_is_better":true,"period":3500000' "the file says what was measured, and how often"
fleet reduce --db one.db one.fleet >reduce.out 2>&1
is $? 0 "reduce" || diag reduce.out
is "$(said '.applications[0].name | split("@")[0]' one.db)" busy "most samples are the program's that computed"
[ "$(said '.applications[0] | .samples > 50' one.db)" = true ]
ok $? "and there are many" || diag "$(said '.applications[0]' one.db)"
[ "$(said '.applications[0] | .median > 50000 and .median < 8000000 and .noise < 0.5' one.db)" = true ]
ok $? "a core does between a twentieth and eight instructions in a cycle" || diag "$(said '.applications[0]' one.db)"
is "$(said '[.applications[] | select(.name == "(gone)" or .name == "")] | length' one.db)" 0 "every sample is of somebody"

timeout 120 "$ISPOT" fleet record -o none.fleet --period 1000000000000000 -- ./busy 'BEGIN { exit 7 }' >none.out 2>none.err
is $? 1 "a program that ends before its first sample ends the recording"
like none.err 'no CPU was busy for the length of a sample' "which is said" || diag none.err

# Twice the period, half of the samples: by the same program.
fleet record -o two.fleet --period 7000000 -- ./busy 'BEGIN { while (n++ < 16000000) }' >two.out 2>two.err
is $? 0 "another period" || diag two.err
fleet reduce --db two.db two.fleet >reduce.out 2>&1
# taken NAME: samples, of one application or not
taken() { awk '/samples? (of ipc|more)/ { n = $2; if (n ~ /k$/) n *= 1000; sum += n } END { print sum + 0 }' "$1.err"; }
n1=$(taken one) n2=$(taken two)
[ "$n2" -gt 0 ] && within $((100 * n1 / n2)) 200+-60
ok $? "gives half of the samples" || { diag one.err; diag two.err; }

busy 4000000000 & children+=($!)
fleet record -d 3 -o timed.fleet >timed.out 2>timed.err
is $? 0 "-d without a program samples whoever runs" || diag timed.err
fleet reduce --db timed.db timed.fleet >reduce.out 2>&1
[ "$(said '.fleet | (.to_ns - .from_ns) / 1e9 | . > 1.5 and . < 4' timed.db)" = true ]
ok $? "for so long" || diag "$(said .fleet timed.db)"

fleet record --cost 5 -d 12 -o cost.fleet --period 500000 >cost.out 2>cost.err
is $? 0 "a cost bound" || diag cost.err
like cost.err 'took [0-9.]+% of their time \([0-9.]+% its own, [0-9.]+% taken from others\), [0-9]+% of it were watched' "is said with its parts"

"$ISPOT" fleet record --dir days --files 2 --file-size 64K --period 100000 >days.out 2>days.err &
recorder=$!
children+=($!)
eventually [ -e days/samples-00000004.fleet ] && [ ! -e days/samples-00000001.fleet ] && [ ! -e days/samples-00000002.fleet ]
ok $? "a directory keeps the latest files" || { ls -l days >ls.out; diag ls.out; diag days.err; }
kill -TERM $recorder
wait $recorder
is $? 0 "and ends when it is asked to" || diag days.err
fleet reduce --db days.db days/*.fleet >reduce.out 2>&1
is $? 0 "its files are sound" || diag reduce.out

# Each takes two counters as long as it lasts; the last one finds none.
begin_hog() {
	"$ISPOT" fleet record -d 600 --period 3500000 -o "hog$1.fleet" >"hog$1.out" 2>"hog$1.err" &
	hogs+=($!)
	children+=($!)
}
settled() { [ -s "hog$1.fleet" ] || ! kill -0 "${hogs[-1]}" 2>/dev/null; }
hogs=()
for n in 1 2 3 4 5 6 7 8 9; do
	begin_hog $n
	eventually settled $n
	[ ! -s "hog$n.err" ] || break
done
like "hog$n.err" "the counters of CPU [0-9]+ are taken; end the other profiler" "counters that others have are refused"
kill "${hogs[@]}" 2>/dev/null
wait "${hogs[@]}" 2>/dev/null

cp ./busy ./later
if [ "${ISPOT_GUEST-}" ] && [ "$(cat /sys/devices/system/cpu/online)" = 0 ]; then
	"$ISPOT" fleet record -d 20 -o comes.fleet >comes.out 2>comes.err &
	recorder=$!
	children+=($!)
	eventually [ -e comes.fleet ]
	echo 1 >/sys/devices/system/cpu/cpu1/online
	taskset -c 1 ./later 'BEGIN { while (1); }' & children+=($!)
	wait $recorder
	is $? 0 "a CPU comes online meanwhile" || diag comes.err
	like comes.err "CPU 1 came online while recording" "which is said"
	fleet reduce --db comes.db comes.fleet >reduce.out 2>&1
	is "$(said '.fleet.busy_cpus.most' comes.db)" 2 "who has it is known" || diag "$(said .fleet comes.db)"
	is "$(said '[.applications[] | select(.name | startswith("later"))] | length' comes.db)" 1 "and sampled" ||
		diag "$(said .applications comes.db)"
else
	skip "a CPU that comes online meanwhile" "it takes a guest in which one can"
fi

fleet record --period 1000000 -p $$ >p.out 2>p.err
is $? 2 "-p without -F is refused"
done_testing
