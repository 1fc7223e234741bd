#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Who waits for a mutex waits for a lock, whatever else the machine does: the cause follows from who slept
# on which word and who woke whom, so it is the same on every kernel and in an emulator. How much else there
# is, as an emulated CPU that runs slower at times, is not.
. "$(dirname "$0")/lib.sh"
needs_probes

# On a machine that gives the program one CPU its threads may never meet: then there is no wait.
for _ in 1 2 3 4 5; do
	record mutex -F locked_add -- "$MB/mutex" -n 4001
	report mutex
	first_wait=$(block mutex locked_add '.causes | [.[].kind
		| select(IN("lock", "condition-wait", "barrier", "disk-io", "network", "pipe", "sleep"))][0]')
	[ "$first_wait" = null ] || break
done
is "$status" 0 "status" || diag mutex.err
matches_truth mutex calls
is "$first_wait" lock "what waits for a mutex waits for a lock" ||
	diag "$(block mutex locked_add '.causes | tojson')"
nothing_lost mutex

done_testing
