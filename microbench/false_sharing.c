/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Threads bump counters of their own that lie in one cache line, or all the same one (true
 * sharing). Now and then all but one pause
 * (a barrier keeps the phases apart), which gives the fast calls that the rest is compared with;
 * with --pause 0 they never do, and only `record --solo` has such calls.
 * On two hyperthreads of one core the line does not travel, and the score is then honestly small.
 */
#include <stdatomic.h>

#include "common.h"

enum { ALONE_ONE_IN = 4, BUMPS = 20000, PHASES = 40 };

static struct {
	_Alignas(64) atomic_ulong counters[8];
} shared;
static pthread_barrier_t phase_gate;
static uint64_t is_same, pauses = 1;
static struct truth bump = { .block = "bump_counter", .cause = "cache-sharing" };

TRACED void bump_counter(unsigned thread)
{
	uint64_t begin = now_ns();
	atomic_ulong *counter = &shared.counters[is_same ? 0 : thread % 8];

	for (int i = 0; i < BUMPS; i++)
		atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
	truth_call(&bump, thread, begin);
}

/* All begin at once, and none is left alone at the end. */
static void run_without_pause(struct worker *w)
{
	static atomic_ulong arrived, taken;
	uint64_t threads = w->options->threads;

	atomic_fetch_add(&arrived, 1);
	while (atomic_load(&arrived) < threads)
		;
	while (atomic_fetch_add(&taken, 1) < w->options->iterations)
		bump_counter(w->index);
}

static void run(struct worker *w)
{
	if (!pauses) {
		run_without_pause(w);
		return;
	}
	uint64_t done = 0;

	for (unsigned phase = 0; phase < PHASES; phase++) {
		uint64_t until = w->calls * (phase + 1) / PHASES;

		pthread_barrier_wait(&phase_gate);
		if (phase % ALONE_ONE_IN == 0 && w->index == 0)
			for (; done < until; done++)
				bump_counter(w->index);
		pthread_barrier_wait(&phase_gate);
		for (; done < until; done++)
			bump_counter(w->index);
	}
}

int main(int argc, char **argv)
{
	const struct bench_extra extras[] = {
		{ "same", "N", "1: all bump one counter (true sharing)", &is_same, NULL },
		{ "pause", "0|1", "0: no phase in which one thread is alone (1)", &pauses, NULL },
		{ 0 }
	};
	struct bench_options o = { .name = "false_sharing",
				   .what = "Threads bump neighbouring counters in one cache line.",
				   .threads = 2,
				   .iterations = 8009,
				   .seed = 1,
				   .extras = extras };

	bench_parse(&o, argc, argv);
	pthread_barrier_init(&phase_gate, NULL, (unsigned)o.threads);
	workers_run(&o, run);
	truth_print(&bump);
	return 0;
}
