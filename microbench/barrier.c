/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rounds that end at a barrier. The last thread is late by a known delay in each round; in each
 * round the last to arrive passes at once, and the others wait for it.
 */
#include "common.h"

static pthread_barrier_t barrier;
static struct truth waits = { .block = "join_barrier",
			      .cause = "barrier",
			      .verdict = "interference" };

TRACED void join_barrier(unsigned thread)
{
	uint64_t begin = now_ns();

	pthread_barrier_wait(&barrier);
	truth_call(&waits, thread, begin);
}

static void run(struct worker *w)
{
	bool slow = w->index == w->options->threads - 1;

	for (uint64_t i = 0; i < w->options->iterations; i++) {
		spin_ns(50000);
		if (slow)
			sleep_ns(w->options->delay_us * 1000);
		join_barrier(w->index);
	}
}

int main(int argc, char **argv)
{
	struct bench_options o = { .name = "barrier",
				   .what = "Rounds with one slow thread; -n counts the rounds.",
				   .threads = 3,
				   .iterations = 2003,
				   .delay_us = 300,
				   .seed = 1 };

	bench_parse(&o, argc, argv);
	pthread_barrier_init(&barrier, NULL, (unsigned)o.threads);
	workers_run(&o, run);
	truth_print(&waits);
	return 0;
}
