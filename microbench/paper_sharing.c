/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Listing 2 of the ISPOT paper: one thread updates x all the time; the others update a variable of
 * their own on the same cache line and then run an empty loop for a known number of turns. An
 * update is far shorter than a probe, so a marker stands at every BATCH-th, and a block is what is
 * between (the paper put one at every tenth turn of a loop, by hand). No block goes unmarked: with
 * one in ten, those in which a CPU was taken away, 4 ms each, were met or missed by chance, and the
 * score with them. --apart 1 puts the variables on lines of their own. Prints the mean time of a
 * block, in ns. Updates are atomic: a newer core keeps plain ones in its store buffer, where a line
 * that others take away costs nothing.
 */
#include <stdatomic.h>

#include "common.h"
#include "probes/ispot.h"

enum { BATCH = 50000, LINE = 64 };

static struct {
	atomic_ulong x;
	atomic_ulong y[WORKERS_MAX * LINE / 8];
} data __attribute__((aligned(LINE)));
static uint64_t delay_turns, apart, stagger_us, run_ms = 500;
static pthread_barrier_t start;
static atomic_bool done;
static struct truth updates = { .block = "update_x", .cause = "cache-sharing" };

/* Called once: by itself it has no fastest call, the marked executions of its loop have. */
TRACED void update_x(struct worker *w, uint64_t end)
{
	for (uint64_t turn = 0; goes_on(w, turn, end); turn++) {
		uint64_t begin = now_ns();

		ISPOT_BEGIN(update_x);
		for (int k = 0; k < BATCH; k++)
			atomic_fetch_add_explicit(&data.x, 1, memory_order_relaxed);
		ISPOT_END(update_x);
		truth_call(&updates, w->index, begin);
	}
	done = true;
}

static void update_y(struct worker *w)
{
	atomic_ulong *y = &data.y[apart ? (w->index + 1) * LINE / 8 : (w->index - 1) % 7];

	while (!done) {
		atomic_fetch_add_explicit(y, 1, memory_order_relaxed);
		for (uint64_t k = 0; k < delay_turns; k++)
			__asm__ volatile("");
	}
}

static void run(struct worker *w)
{
	uint64_t end = begin_in_turn(w, &start, stagger_us) + run_ms * 1000000;

	if (w->index) {
		update_y(w);
	} else {
		w->calls = w->options->iterations; /* nobody else calls the block */
		update_x(w, end);
	}
}

int main(int argc, char **argv)
{
	const struct bench_extra extras[] = {
		{ "turns", "N", "of the empty loop after an update of y (0)", &delay_turns, NULL },
		{ "apart", "0|1", "each variable on a cache line of its own (0)", &apart, NULL },
		{ "stagger", "USEC", "a thread begins so much after the one before (0)",
		  &stagger_us, NULL },
		{ "ms", "MS", "how long all threads run without -n (500)", &run_ms, NULL },
		{ 0 },
	};
	struct bench_options o = { .name = "paper_sharing",
				   .what = "Listing 2 of the ISPOT paper: false sharing.",
				   .threads = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN),
				   .seed = 1,
				   .extras = extras };

	bench_parse(&o, argc, argv);
	pthread_barrier_init(&start, NULL, (unsigned)o.threads);
	workers_run(&o, run);
	truth_print(&updates);
	truth_print_mean(&updates);
	return 0;
}
