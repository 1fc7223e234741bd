/* SPDX-License-Identifier: GPL-3.0-or-later */
/* More threads than CPUs, all computing: a call of constant work takes long where its thread waits
 * for a CPU. */
#include "common.h"

static struct truth crunches = { .block = "crunch",
				 .cause = "cpu-wait",
				 .verdict = "interference" };

TRACED void crunch(unsigned thread, uint64_t steps)
{
	uint64_t begin = now_ns();

	churn(steps, thread);
	truth_call(&crunches, thread, begin);
}

static void run(struct worker *w)
{
	for (uint64_t i = 0; i < w->calls; i++)
		crunch(w->index, 500000);
}

int main(int argc, char **argv)
{
	struct bench_options o = { .name = "oversubscription",
				   .what = "More threads than CPUs (default: four times as many).",
				   .threads = 4 * (uint64_t)sysconf(_SC_NPROCESSORS_ONLN),
				   .iterations = 4001,
				   .seed = 1 };

	bench_parse(&o, argc, argv);
	workers_run(&o, run);
	truth_print(&crunches);
	return 0;
}
