#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Calls in cycles: both clocks are in every recording, and -k tsc stamps calls with the counter itself.
. "$(dirname "$0")/lib.sh"
needs_probes

# counted NAME FUNCTION MEMBER
counted() { block "$1" "$2" ".$3"; }

record mono -F inner -- "$MB/exact" -t 1 -n 2003
report mono
"$ISPOT" dump --meta -i mono.data | grep '"kind":"clocks"' >clocks
is "$(wc -l <clocks)" 2 "a recording has both clocks at both ends"
if [ "$(jq -r .trace.cycles.why mono.json)" != null ]; then
	skip "the two ends agree with the beginning's milliseconds" "$(jq -r .trace.cycles.why mono.json)"
	is "$(counted mono inner min_cycles)" null "no cycles by a counter that is not stable"
else
	begin=$("$ISPOT" dump --meta -i mono.data | grep -o '"cycles_per_ns":[0-9.]*' | cut -d: -f2)
	[ "$(jq "(.trace.cycles.per_ns / $begin - 1) | fabs < 0.03" mono.json)" = true ]
	ok $? "the two ends agree with the beginning's milliseconds" || diag "$(jq -c .trace.cycles mono.json) $begin"
	[ "$(jq ".trace.cycles.source == \"converted\" and (.trace.cycles.per_ns * $(counted mono inner min_ns) -
		$(counted mono inner min_cycles) | fabs <= 0.5)" mono.json)" = true ]
	ok $? "without -k cycles are converted" || diag "$(jq -c '.trace.cycles, .blocks[0]' mono.json)"
fi

record stamped -k tsc -F inner -- "$MB/exact" -t 1 -n 2003
if [ "$status" = 125 ]; then
	like stamped.err '-k tsc: (this kernel|its event|the processor|the kernel|this processor).*; leave it out' \
		"what cannot stamp says why"
	skip "every call is stamped" "no counter that programs can read"
else
	is "$status" 0 "-k tsc: status"
	report stamped
	nothing_lost stamped
	is "$(jq -r .trace.cycles.source stamped.json)" tsc "the file says that calls are stamped"
	is "$(block stamped inner '.counters.tsc.calls')" "$(counted stamped inner timed_calls)" "every call is stamped"
	# Both clocks are read at both ends: of long calls, which change their CPU, they say the same.
	record long -k tsc -F crunch -- "$MB/oversubscription"
	report long
	[ "$(jq ".trace.cycles.per_ns * $(counted long crunch p50_ns) / $(counted long crunch p50_cycles) |
		. > 0.95 and . < 1.05" long.json)" = true ]
	ok $? "the two clocks agree on the median call" || diag "$(jq -c '.trace.cycles, .blocks[0]' long.json)"
	[ "$(jq ".trace.cycles.per_ns * $(counted long crunch min_ns) / $(counted long crunch min_cycles) |
		. > 0.95 and . < 1.05" long.json)" = true ]
	ok $? "and on the fastest" || diag "$(jq -c '.trace.cycles, .blocks[0]' long.json)"
	"$ISPOT" report -i stamped.data -v --unit cycles >stamped.text
	like stamped.text 'P50-CYC' "--unit cycles shows them"
	like stamped.text 'stamped with the TSC' "and where they are from"
	record sampled -k tsc -c 7 -F inner -- "$MB/exact" -t 1 -n 7001
	report sampled
	is "$(block sampled inner '.counters.tsc.calls')" "$(counted sampled inner timed_calls)" "each of the sampled calls"
fi

# refused WORDS REGEX NAME
refused() {
	local words
	read -ra words <<<"$1"
	record refused "${words[@]}" -F inner -- "$MB/exact" -n 1
	is "$status" 2 "$3: refused"
	like refused.err "$2" "$3: says why"
}
refused '-k raw' 'give mono or tsc' "another clock"
refused '-k tsc --keep-slower 1ms' 'leave one out' "calls that are not written"
refused '-k tsc --java' 'leave one out' "an agent of its own clock"

done_testing
