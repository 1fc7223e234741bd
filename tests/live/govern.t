#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The records of context switches are left out for a part of the time if they cost more than the budget, and none of the
# switches goes uncounted.
. "$(dirname "$0")/lib.sh"
needs_probes

cat >turns.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>
static int there[2], back[2];
static long rounds;
static void *answer(void *unused)
{
	char c;
	for (long i = 0; i < rounds; i++)
		if (read(there[0], &c, 1) != 1 || write(back[1], &c, 1) != 1)
			abort();
	return unused;
}
int main(int argc, char **argv)
{
	struct rusage u;
	pthread_t t;
	char c = 0;
	rounds = argc > 1 ? atol(argv[1]) : 0;
	if (pipe(there) || pipe(back) || pthread_create(&t, NULL, answer, NULL))
		abort();
	for (long i = 0; i < rounds; i++)
		if (write(there[1], &c, 1) != 1 || read(back[0], &c, 1) != 1)
			abort();
	pthread_join(t, NULL);
	getrusage(RUSAGE_SELF, &u);
	printf("switches %ld\n", u.ru_nvcsw + u.ru_nivcsw);
	return 0;
}
END
cc -O1 -o turns turns.c -pthread 2>compile.err || skip_all "no C compiler"

# switches NAME: how many threads left a CPU, by the records, and by the counts of what has none
switches() {
	"$ISPOT" dump --events -i "$1.data" |
		awk '$4 == "switch-out" { n++ } $4 == "switches-on" { left_out += $5 } END { print n + 0, left_out + 0 }'
}

# One percent of such a program's time is less than these records take on any machine.
RING=64M record few --overhead 1 -- ./turns 300000
is "$status" 0 "few: status" || diag few.err
made=$(awk '$1 == "switches" { print $2 }' few.out)
read -r recorded left_out < <(switches few)
[ "$left_out" -gt 0 ]
ok $? "few: switches are left out" || diag "$recorded recorded of $made"
# Those before the recording began, of the command's launch, and the last ones, of its end.
diff=$((made - recorded - left_out))
report few
ok $? "few: report" || diag few.report-err
if [ "$(jq .trace.lost_records few.json)" = 0 ]; then
	[ "${diff#-}" -le 100 ]
	ok $? "few: with those that are left out there are as many as the kernel counts" ||
		diag "$recorded recorded, $left_out left out, $made made"
else
	skip "few: with those that are left out there are as many as the kernel counts" "the rings were full"
fi
is "$(jq .trace.switches_unrecorded few.json)" "$left_out" "few: the report says how many are left out"
is "$(jq '.trace | .switches_unrecorded_ns > 0 and .switches_unrecorded_ns < .duration_ns' few.json)" true "few: and for how long"
is "$(jq '.trace as $t | ($t.working_ns + $t.lost_ns + $t.idle_ns + $t.unexplained_ns) <= $t.threads_ns and
	$t.threads_ns <= 2.1 * ($t.duration_ns - $t.switches_unrecorded_ns)' few.json)" true "few: thread time is that of the rest" ||
	diag "$(jq -c '.trace | [.working_ns, .lost_ns, .idle_ns, .unexplained_ns, .threads_ns, .duration_ns, .switches_unrecorded_ns]' few.json)"
jq -r '.notices[]' few.json >few.notices
like few.notices "context switches were recorded for .* of .*; times and shares are of that part" "few: a note says so"

# A program that hardly switches, and one that may cost as much as it likes.
record calm --overhead 1 -- "$MB/counted_loop"
is "$status" 0 "calm: status" || diag calm.err
read -r recorded left_out < <(switches calm)
is "$left_out" 0 "calm: nothing is left out" || diag "$recorded recorded"
is "$("$ISPOT" dump --events -i calm.data | grep -cE 'switches-o|count=')" 0 "calm: no record counts switches"
record ample --overhead 100 -- ./turns 100000
is "$status" 0 "ample: status" || diag ample.err
read -r recorded left_out < <(switches ample)
[ "$recorded" -gt 1000 ] && [ "$left_out" = 0 ]
ok $? "ample: all switches have records" || diag "$recorded recorded, $left_out left out"

done_testing
