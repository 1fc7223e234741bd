#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A hot function that does nothing reads as noise: on 1, 2 and 4 threads, with and without a
# process that hogs a CPU, in 20 runs of 20.
. "$(dirname "$0")/lib.sh"
needs_probes

for run in $(seq 20); do
	threads=$(((run % 3 == 0) + 2 * (run % 3 == 1) + 4 * (run % 3 == 2)))
	hogs=$((run % 2))
	name="run$run"
	record "$name" -F empty_call -- "$MB/empty" -n 100003 -t $threads --hogs $hogs
	report "$name"
	is "$(block "$name" empty_call .verdict)" noise "run $run: $threads threads, $hogs hogs" ||
		diag "sci $(block "$name" empty_call .sci), floor $(block "$name" empty_call .floor)"
	is "$(block "$name" empty_call .calls)" 100003 "run $run: calls"
	rm -f "$name".*
done
done_testing
