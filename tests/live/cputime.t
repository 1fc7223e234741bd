#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The CPU time that overhead is a share of: of processes that are born and end while a shell is
# attached to, however short their lives are; only of the time that was recorded; and what calls cost
# that sampling left out.
. "$(dirname "$0")/lib.sh"
needs_probes

# Seconds of CPU of a shell and its children, by its builtin `times`.
seconds() {
	tr ' ' '\n' <"$1" | awk -F '[ms]' 'NF > 1 { sum += 60 * $1 + $2 } END { print sum + 0 }'
}

MB=$MB bash -c ': >up
	until [ -e go ]; do sleep 0.05; done
	times >before
	for i in {1..40}; do "$MB/empty" -n 5000000 >/dev/null; done
	times >after
	: >done
	sleep 5' &
shell=$!
children+=("$shell")
eventually test -e up # a shell as well before it is this one
# shellcheck disable=SC2016
record brief -F libc:waitpid -p "$shell" -- bash -c ': >go; until [ -e done ]; do sleep 0.05; done'
is "$status" 0 "attached to a shell: status" || diag brief.err
report brief
used=$(awk "BEGIN { print $(seconds after) - $(seconds before) }")
seen=$(trace brief .cpu_ns)
awk -v used="$used" -v seen="$seen" \
	'BEGIN { exit !(used > 0.1 && seen > 0.7e9 * used && seen < 1.3e9 * used + 0.2e9) }'
ok $? "the CPU time of 40 short processes is in the file" || diag "used $used s, recorded $seen ns"
kill "$shell"

# It goes on for a multiple of the recording, while its probes are taken out and after that.
# shellcheck disable=SC2016
record ended -d 300ms -F empty_call -- bash -c 'trap "" TERM; exec "$0" -n 600000007' "$MB/empty"
is "$status" 0 "a command that outlives its recording: status" || diag ended.err
report ended
awk -v cpu="$(trace ended .cpu_ns)" -v lasted="$(trace ended .duration_ns)" \
	'BEGIN { exit !(cpu > 0 && cpu <= lasted + 0.05e9) }'
ok $? "one thread's CPU time is no more than was recorded" ||
	diag "$(trace ended .cpu_ns) of $(trace ended .duration_ns)"

record rare -c 1000000000 -F empty_call -- "$MB/empty" -n 20011
like rare.err 'none of the 20k calls was recorded, as one in 1000000000 was to be' \
	"-c too large: said"
unlike rare.err 'no calls were seen' "and not that there were none"
cost=$("$ISPOT" dump --meta -i rare.data | jq 'select(.kind == "end") | .probes_cost_ns - .scheduling_cost_ns')
[ "$cost" -gt $((20011 * 100)) ]
ok $? "what calls cost that were left out counts" || diag "$cost ns"

# The CPUs that the program may use are fewer than there are: what waits for less gains nothing beyond them.
if [ "$(nproc)" -ge 2 ] && command -v taskset >/dev/null; then
	first=$(awk '$1 == "Cpus_allowed_list:" { split($2, a, /[-,]/); print a[1] }' /proc/self/status)
	record bound -F bump_counter -- taskset -c "$first" "$MB/false_sharing" -n 100000
	is "$status" 0 "bound: status" || diag bound.err
	report bound
	[ "$(jq '.trace.usable_cpus != null and .trace.usable_cpus <= 1' bound.json)" = true ]
	ok $? "it may use one CPU" || diag "$(jq .trace bound.json)"
else
	skip "one CPU, or no taskset" "bound: status"
	skip "one CPU, or no taskset" "it may use one CPU"
fi

done_testing
