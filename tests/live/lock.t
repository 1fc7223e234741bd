#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Who waits for a mutex waits for a lock, whatever else the machine does: the cause follows from who slept
# on which word and who woke whom, so it is the same on every kernel and in an emulator.
. "$(dirname "$0")/lib.sh"
needs_probes

record mutex -F locked_add -- "$MB/mutex" -n 4001
is "$status" 0 "status" || diag mutex.err
report mutex
matches_truth mutex calls
is "$(first_cause mutex locked_add lock)" lock "the first cause of what waits for a mutex is lock" ||
	diag "$(block mutex locked_add '.causes | tojson')"
nothing_lost mutex

done_testing
