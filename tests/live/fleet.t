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
# pair NAME JQ: of requests beside NAME, taking turns on one CPU
pair() { jq -r --arg n "$1@" "[.pairs[] | select(.class == \"cpu\" and (.base | startswith(\"requests@\"))
	and (.corunner | startswith(\$n)))] | if length == 1 then .[0]$2 else length end" report.json; }
enough() { [ "$(pair hungry .samples)" -ge 1000 ] && [ "$(pair sleeper .samples)" -ge 1000 ]; }

# Until there is enough to say something of both: twice is usual, ten times where compilers are busy beside it.
for round in {1..20}; do
	"$ISPOT" fleet record -o "$round.fleet" -F marker:request -- ./requests 8 >record.out 2>record.err || break
	"$ISPOT" fleet reduce --db one.db "$round.fleet" >reduce.out 2>&1 || break
	"$ISPOT" fleet report --db one.db --json >report.json 2>report.err || break
	! enough || break
done
# field JQ: of what the recording's file says once
field() { tail -c +17 "$round.fleet" | head -c "$(($(od -An -tu4 -j8 -N4 "$round.fleet")))" | jq -r "$1"; }
is "$(field '[.indicator, .machine, .by] | join(" ")')" "duration of request $(uname -n) executable" "the file says what, and where"
is "$(field '.cpus | length')" "$(($(tr -d '\n' </sys/devices/system/cpu/possible | tr -c 0-9 '\n' | sort -n | tail -1) + 1))" \
	"and of every CPU" || diag "$(field .)"
is "$(field '.cpus[0][1:] | length')" 2 "what it shares"
like <(field .type) ". x [0-9]+$" "and the machine's type"
enough
ok $? "programs that share the CPUs, until there are enough samples" ||
	diag "$(cat record.err reduce.out report.err; pair hungry '| tojson'; pair sleeper '| tojson')"
like record.err "samples of duration of request, [0-9]+ applications were seen" "what was recorded is said"
is "$(jq -r '.fleet | [.indicator, .unit, .higher_is_better] | tojson' report.json)" \
	'["duration of request","ns",false]' "the indicator is labelled"
is "$(pair hungry .effect)" negative "the busy one slows it" || diag "$(pair hungry '| tojson')"
# Not certain where others slow it at those times as well: then nothing is said of the one that sleeps.
like <(pair sleeper .effect) "^(within-noise|not-certain)$" "the one that sleeps does not" || diag "$(pair sleeper '| tojson')"
is "$(jq '[.pairs[] | select((.corunner | startswith("sleeper@")) and .effect == "negative")] | length' report.json)" 0 \
	"nor on the other CPUs"
"$ISPOT" fleet report --db one.db >report.out 2>&1
# Whoever else wants the CPUs meanwhile, as compilers do, slows it as well, and may do so more.
if [ "$(jq '.antagonists | length' report.json)" = 1 ]; then
	like report.out "^hungry@.* slows requests@.* \(class cpu\)" "the report begins with it" || diag report.out
else
	like report.out "requests@.* alongside hungry@" "the report has it, and others" || diag report.out
fi
like report.out "^antagonistic  (.*, )?hungry@[0-9a-f]* .1.(,|$)" "and names it as antagonistic, though it was not measured" || diag report.out
like report.out "^ +[0-9]+ hungry@.* not measured$" "as the matrix does" || diag report.out
is "$(jq '[.applications[] | select(.name | startswith("requests@"))] | length' report.json)" 1 "one application was measured"
is "$(jq '.applications | length' report.json)" 1 "and no other"

if ! compgen -G '/sys/bus/event_source/devices/cpu*' >/dev/null &&
	! compgen -G '/sys/bus/event_source/devices/armv8_*' >/dev/null; then
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

# Of several processes each is recorded until the last has ended.
{
	./requests 10 &
	echo $! >first.pid
	wait
	date +%s%N >first.ended
} & children+=($!)
until [ -s first.pid ]; do sleep 0.05; done
first=$(cat first.pid)
children+=("$first")
./requests 300 & children+=($!)
second=$!
started "$first" requests
started $second requests
"$ISPOT" fleet record -F marker:request --duty 1s/1001ms -d 20 -p "$first,$second" -o both.fleet >both.out 2>both.err
is $? 0 "several processes, of which one ends" || diag both.err
"$ISPOT" fleet reduce --db both.db both.fleet >both.out 2>&1
"$ISPOT" fleet report --db both.db --json >both.json
is "$(jq --arg ended "$(cat first.ended)" '.fleet.to_ns > ($ended | tonumber)' both.json)" true \
	"do not end the recording with it" || diag "$(cat first.ended) $(jq -c .fleet both.json)" both.out both.err
kill $second

mkdir there
for out in nowhere/x.fleet there; do
	"$ISPOT" fleet record -F marker:request -o $out -- ./requests 2 >nowhere.out 2>nowhere.err
	is $? 1 "a file that cannot be written" || diag nowhere.err
	like nowhere.err "^ispot: fleet: cannot write $out: .*name a file in a directory that can be written" "is said" || diag nowhere.err
	[ ! -s nowhere.out ]
	ok $? "before anything is recorded" || diag nowhere.out
done
printf 'kept' >kept.fleet
"$ISPOT" fleet record -F marker:nothing -o kept.fleet -- ./requests 0.1 >kept.out 2>kept.err
is "$(cat kept.fleet)" kept "of a recording that fails a file that is there stays" || diag kept.err

"$ISPOT" fleet record -F marker:request -F clock_gettime -o no.fleet -- ./requests 0.3 >several.out 2>several.err
is $? 1 "several functions are refused"
like several.err "the duration of one" "and said"
done_testing
