#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Descendants that come and go beside each other: no call of theirs is missing.
. "$(dirname "$0")/lib.sh"
needs_probes

# name workers rounds pause-us
while read -r name workers rounds pause; do
	record "$name" -F forked_work -- "$MB/forks" -t "$workers" -n "$rounds" -d "$pause"
	is "$status" 0 "$name: status" || diag "$name.err"
	report "$name"
	# Before 6.13 what a process just born forks at once may be lost, which is then said.
	if [ "$name" = brief ] && jq -e '.notices[] | select(test("forked by processes just born"))' brief.json >/dev/null; then
		[ "$(block brief forked_work .calls)" -le "$(truth brief | awk '{ print $3 }')" ]
		ok $? "$name: calls that may be missing are not told of as exact"
	else
		matches_truth "$name" calls
	fi
	nothing_lost "$name"
done <<-'EOR'
	workers 6 5 60000
	wide 40 2 20000
	brief 6 30 0
EOR

done_testing
