#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Many CPUs: threads on all of them at once, every call counted, and what memory the rings take.
# `ISPOT_VM_QEMU="-smp 16 -m 4096" tests/vm/run x86-6.12 live-cpus` has sixteen.
. "$(dirname "$0")/lib.sh"
needs_probes

cpus=$(nproc)
available() { awk '/^MemAvailable/ { print int($2 / 1024) }' /proc/meminfo; }

before=$(available)
"$ISPOT" record -o many.data -F outer -F middle -F inner -F factorial -F 'tail_*' -F only_thread_zero \
	-- sh -c "'$MB/exact' -t $((2 * cpus)) -n $((500 * cpus)); sleep 2" \
	>many.out 2>many.err &
recorder=$!
least=$before
while kill -0 "$recorder" 2>/dev/null; do
	now=$(available)
	[ "$now" -ge "$least" ] || least=$now
	sleep 0.2
done
wait "$recorder"
is "$?" 0 "$cpus CPUs, $((2 * cpus)) threads: status" || diag many.err
report many
matches_truth many calls
nothing_lost many
is "$(trace many .cpus)" "$cpus" "the recording knows all CPUs"
diag "$cpus CPUs: $((before - least)) MiB of memory less were available while recording"

done_testing
