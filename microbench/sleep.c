/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A function that backs off: one call in three sleeps for a known time, between spells of work. */
#include "common.h"

static uint64_t slept;
static struct truth backs_off = { .block = "back_off", .cause = "sleep" };

TRACED void back_off(unsigned thread, uint64_t ns)
{
	uint64_t begin = now_ns();

	if (ns)
		sleep_ns(ns);
	truth_call(&backs_off, thread, begin);
}

static void run(struct worker *w)
{
	uint64_t before = sleeps_of_thread();

	for (uint64_t i = 0; i < w->calls; i++) {
		back_off(w->index, i % 3 ? 0 : w->options->delay_us * 1000);
		spin_ns(100000);
	}
	__atomic_fetch_add(&slept, sleeps_of_thread() - before, __ATOMIC_RELAXED);
}

int main(int argc, char **argv)
{
	struct bench_options o = { .name = "sleep",
				   .what = "One call in three sleeps.",
				   .threads = 1,
				   .iterations = 3001,
				   .delay_us = 1000,
				   .seed = 1 };

	bench_parse(&o, argc, argv);
	workers_run(&o, run);
	truth_print(&backs_off);
	printf("slept %" PRIu64 "\n", slept);
	return 0;
}
