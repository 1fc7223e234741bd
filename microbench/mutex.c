/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Threads queue for one mutex. Each hold and each pause between two calls has a known length, so
 * what a call takes beyond the fastest is the wait for the other threads.
 */
#include "common.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct truth locked = { .block = "locked_add", .cause = "lock", .verdict = "interference" };
static uint64_t sum;
static uint64_t outside_us; /* of the delay; what mends the program: ispot-sci(7), EXAMPLE */

TRACED void locked_add(unsigned thread, uint64_t work_ns)
{
	uint64_t begin = now_ns();

	spin_ns(outside_us * 1000);
	pthread_mutex_lock(&lock);
	sum++;
	spin_ns(work_ns - outside_us * 1000);
	pthread_mutex_unlock(&lock);
	truth_call(&locked, thread, begin);
}

static void run(struct worker *w)
{
	uint64_t work_ns = w->options->delay_us * 1000;

	for (uint64_t i = 0; i < w->calls; i++) {
		locked_add(w->index, work_ns);
		spin_ns(next_random(&w->random) % (work_ns + 1));
	}
}

int main(int argc, char **argv)
{
	const struct bench_extra extras[] = { { "outside", "USEC",
						"of the delay before the mutex is taken (0)",
						&outside_us, NULL },
					      { 0 } };
	struct bench_options o = { .name = "mutex",
				   .what = "Threads queue for one mutex.",
				   .threads = 2,
				   .iterations = 20011,
				   .delay_us = 50,
				   .seed = 1,
				   .extras = extras };

	bench_parse(&o, argc, argv);
	if (outside_us > o.delay_us) {
		errno = EINVAL;
		bench_die("--outside");
	}
	workers_run(&o, run);
	truth_print(&locked);
	return sum == o.iterations ? 0 : 1;
}
