/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A function whose time follows the size it is given. Without its argument the spread looks like
 * interference; with it, or with `size` as its key, it is workload.
 */
#include "common.h"

static struct truth work = { .block = "process_sized", .cause = "workload" };

TRACED void process_sized(uint64_t size, unsigned thread)
{
	uint64_t begin = now_ns();

	churn(size * 64, size);
	truth_call(&work, thread, begin);
}

static void run(struct worker *w)
{
	static const uint64_t sizes[] = { 16, 64, 256, 1024 };

	for (uint64_t i = 0; i < w->calls; i++)
		process_sized(sizes[next_random(&w->random) % 4], w->index);
}

int main(int argc, char **argv)
{
	struct bench_options o = { .name = "sized_work",
				   .what = "Time follows an argument.",
				   .threads = 2,
				   .iterations = 50021,
				   .seed = 1 };

	bench_parse(&o, argc, argv);
	workers_run(&o, run);
	truth_print(&work);
	return 0;
}
