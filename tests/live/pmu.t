#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Counters of a hardware PMU against instructions that are known. Machines without one skip;
# `make test-vm` runs this in an emulated arm64 machine that has one, with one CPU.
. "$(dirname "$0")/lib.sh"
needs_probes
[ "$("$ISPOT" list --json | jq '[.counters[] | select(.name == "instructions" and .usable)] | length')" = 1 ] ||
	skip_all "no hardware PMU here"

# counter NAME FUNCTION COUNTER MEMBER
counter() { block "$1" "$2" ".counters[\"$3\"].$4"; }

# exact NAME FUNCTION: instructions of all, fast and slow calls within 2 %
exact() {
	local want member got
	want=$(awk -v f="$2" '$1 == "instructions" && $2 == f { print $3 }' "$1.out")
	[ -n "$want" ] || { ok 1 "$1: the program says how many instructions $2 has" && return; }
	for member in mean mean_fast mean_slow; do
		got=$(counter "$1" "$2" instructions $member)
		[ "$got" = null ] && [ $member = mean_slow ] && continue # all calls took the same
		[ -n "$got" ] && within "$got" "$want+-$((want / 50))"
		ok $? "$1: instructions of $2, $member, are within 2 %" || diag "got $got, wanted $want"
	done
}

record one -e cycles,instructions,instructions:uk -F 'counted_*' -- "$MB/counted_loop" -n 53
is "$status" 0 "one: status" || diag one.err
report one
exact one counted_loop
exact one counted_outer
[ "$(jq -n "$(counter one counted_loop cycles mean) > 1000")" = true ]
ok $? "cycles are counted" || diag "$(block one counted_loop .counters)"
[ "$(jq -n "$(counter one counted_loop instructions:uk mean) > $(counter one counted_loop instructions mean)")" = true ]
ok $? "with the kernel's part there are more" || diag "$(block one counted_loop .counters)"
nothing_lost one

# Four threads, in the guest on one CPU: what the others run in a call's time is not the call's.
record four -e '{instructions,cycles}:u' -F 'counted_*' -- "$MB/counted_loop" -t 4 -n 403
report four
exact four counted_loop
exact four counted_outer

record many -F counted_loop -e instructions,instructions:k,instructions:uk,cycles:k,cycles:uk,branches,branches:k,branches:uk \
	-- "$MB/counted_loop" -n 1
if [ "$status" = 125 ]; then
	like many.err '8 hardware events are to count at once, and [0-9]+ do' \
		"more events than counters are refused, with the numbers"
else
	is "$status" 0 "8 events count at once here"
fi

case $(uname -m) in
aarch64)
	# libpfm4's tables against the Arm ARM's numbers
	LIBPFM_FORCE_PMU=arm_n1 LIBPFM_ENCODE_INACTIVE=1 "$ISPOT" list --json >n1.json
	for row in llc-misses=0x37 remote-loads=0x31; do
		is "$(jq -r --arg r "${row%=*}" '[.groups[].events[] | select(.name == $r and (.event | startswith("arm_n1")))] | .[0].config' n1.json)" \
			"${row#*=}" "arm_n1: code of ${row%=*}"
	done
	is "$(jq -r '[.groups[].events[] | select(.detail != null and (.detail | test("no event")))] | length' n1.json)" \
		0 "arm_n1: every row of the groups is in libpfm4's table"
	;;
esac

done_testing
