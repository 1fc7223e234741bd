/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two hot functions that know nothing of each other: each thread runs its own, on data of its own,
 * and one call in eight, drawn by itself, has ten times as much to do. No other function is the
 * cause.
 */
#include "common.h"

static struct truth left = { .block = "left_work", .no_sci = true };
static struct truth right = { .block = "right_work", .no_sci = true };

TRACED void left_work(uint64_t steps, unsigned thread)
{
	uint64_t begin = now_ns();

	churn(steps, thread);
	truth_call(&left, thread, begin);
}

TRACED void right_work(uint64_t steps, unsigned thread)
{
	uint64_t begin = now_ns();

	churn(steps, thread);
	truth_call(&right, thread, begin);
}

static void run(struct worker *w)
{
	for (uint64_t i = 0; i < w->calls; i++) {
		uint64_t steps = 1000 + next_random(&w->random) % 500;

		if (next_random(&w->random) % 8 == 0)
			steps *= 10;
		(w->index % 2 ? right_work : left_work)(steps, w->index);
		churn(next_random(&w->random) % 1000, w->index);
	}
}

int main(int argc, char **argv)
{
	struct bench_options o = {
		.name = "strangers",
		.what = "Two functions on threads of their own; neither is the other's cause.",
		.threads = 2,
		.iterations = 10007,
		.seed = 1
	};

	bench_parse(&o, argc, argv);
	workers_run(&o, run);
	truth_print(&left);
	if (o.threads > 1)
		truth_print(&right);
	return 0;
}
