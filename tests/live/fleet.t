#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# ispot fleet on this machine: of the programs that share the CPUs with one that is measured, the
# busy one slows it and the one that sleeps does not.
. "$(dirname "$0")/lib.sh"
needs_probes

needs_helper neighbours
for name in requests hungry sleeper; do cp "$HELPERS/neighbours" "$name"; done

./sleeper & children+=($!)
started $! sleeper
./hungry & children+=($!)
started $! hungry
"$ISPOT" fleet record -o one.fleet -F marker:request -- ./requests 5 3000 >record.out 2>record.err
is $? 0 "record" || diag record.err
like record.err "samples of duration of request; [0-9]+ applications were seen" "what was recorded is said"
"$ISPOT" fleet reduce --db one.db one.fleet >reduce.out 2>&1
is $? 0 "reduce" || diag reduce.out
"$ISPOT" fleet report --db one.db --min-samples 30 --json >report.json 2>report.err
is "$(jq -r '.fleet | [.indicator, .unit, .higher_is_better] | tojson' report.json)" \
	'["duration of request","ns",false]' "the indicator is labelled"

# pair NAME JQ: of requests beside NAME, taking turns on one CPU
pair() { jq -r --arg n "$1@" "[.pairs[] | select(.class == \"cpu\" and (.base | startswith(\"requests@\"))
	and (.corunner | startswith(\$n)))] | if length == 1 then .[0]$2 else length end" report.json; }
# Samples that others than the busy one took the CPU from: where these are many the machine is busy itself.
strangers=$(jq '[.pairs[] | select(.class == "cpu" and (.base | startswith("requests@"))
	and (.corunner | startswith("hungry@") or startswith("sleeper@") | not)) | .samples] | add // 0' report.json)
if [ "$(pair hungry "| .samples >= 40 and .blocks >= 8 and .samples > 4 * $strangers")" = true ]; then
	is "$(pair hungry .effect)" negative "the busy one slows it" || diag "$(pair hungry '| tojson')"
	awk -v h="$(pair hungry .change)" -v s="$(pair sleeper '.change // 0')" 'BEGIN { exit !(h < s) }'
	ok $? "it slows it more than the one that sleeps" || diag "$(pair sleeper '| tojson')"
else
	skip "the busy one slows it" "the machine is too busy: $(pair hungry '| "\(.samples) samples beside it"'), $strangers beside strangers"
fi
# It is seldom on a CPU: beside it there may be too few samples to say anything.
is "$(jq '[.pairs[] | select((.corunner | startswith("sleeper@")) and .effect == "negative")] | length' report.json)" 0 \
	"the one that sleeps does not" || diag "$(pair sleeper '| tojson')"
is "$(jq '[.applications[] | select(.name | startswith("requests@"))] | length' report.json)" 1 "one application was measured"
is "$(jq '.applications | length' report.json)" 1 "and no other"

if [ ! -e /sys/bus/event_source/devices/cpu ]; then
	"$ISPOT" fleet record -d 1 >ipc.out 2>ipc.err
	is $? 1 "IPC without a PMU is refused"
	like ipc.err "IPC cannot be measured: .*-F marker" "with the reason and a way out"
fi
./requests 120 & children+=($!)
started $! requests
"$ISPOT" fleet record -F marker:request --duty 1s/1500ms -d 2.5 -p $! -o duty.fleet >duty.out 2>duty.err
is $? 0 "a duty cycle" || diag duty.err
"$ISPOT" fleet reduce --db duty.db duty.fleet >duty.out 2>&1
is "$("$ISPOT" fleet report --db duty.db --json | jq '.fleet | .to_ns - .from_ns | . > 5e8')" true \
	"has windows apart from each other" || diag duty.out
# Two windows of a second are ten blocks and a few; of the whole time they would be 25 and more.
is "$("$ISPOT" fleet report --db duty.db --json | jq '.fleet.blocks <= 20')" true \
	"that are as short as was asked for" || diag duty.out

# contained PID: into a cgroup that is called as a container's, of the first hierarchy that takes one
contained() {
	local root number
	number=$(printf '%064d' 17)
	for root in /sys/fs/cgroup /sys/fs/cgroup/unified /sys/fs/cgroup/systemd; do
		[ -e "$root/cgroup.procs" ] || continue
		mkdir -p "$root/ispot-$$/$number" || continue
		if echo "$1" >"$root/ispot-$$/$number/cgroup.procs"; then
			cgroups=("$root/ispot-$$/$number" "$root/ispot-$$")
			return
		fi
		rmdir "$root/ispot-$$/$number" "$root/ispot-$$"
	done
	return 1
}
cgroups=()
if contained "${children[-1]}" 2>contained.err; then
	for seconds in 1 4 10; do # where others have the CPUs no call may end in time
		"$ISPOT" fleet record -F marker:request -d $seconds -p "${children[-1]}" --by container -o in.fleet >in.out 2>in.err
		status=$?
		[ $status -eq 0 ] && break
	done
	is $status 0 "a container as the application" || diag in.err
	"$ISPOT" fleet reduce --db in.db in.fleet >in.out 2>&1
	is "$("$ISPOT" fleet report --db in.db --json | jq -r '.fleet.by, .applications[].name' | xargs)" \
		"container 000000000000" "has the first digits of its number as its name" || diag in.out
else
	skip "a container as the application" "no cgroup can be made here"
fi
kill "${children[-1]}"
while kill -0 "${children[-1]}" 2>/dev/null; do sleep 0.05; done
[ ${#cgroups[@]} -eq 0 ] || rmdir "${cgroups[@]}"

"$ISPOT" fleet record -F marker:request -F clock_gettime -o no.fleet -- ./requests 0.3 >several.out 2>several.err
is $? 1 "several functions are refused"
like several.err "the duration of one" "and said"
done_testing
