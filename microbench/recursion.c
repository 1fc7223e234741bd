/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Recursion beyond the 64 return probes that the kernel keeps per thread. Entries are exact at
 * any depth; a score counts the outermost call only, which sleeps a known time in one of two.
 */
#include "common.h"

static struct truth outermost = { .block = "descend", .cause = "sleep", .no_sci = true };

TRACED uint64_t descend(uint64_t depth, uint64_t sleep_at_bottom_ns)
{
	uint64_t below = 0;

	if (depth > 1)
		below = descend(depth - 1, sleep_at_bottom_ns);
	else if (sleep_at_bottom_ns)
		sleep_ns(sleep_at_bottom_ns);
	/* Work behind the call: a tail call would be a loop. */
	__asm__ volatile("" : "+r"(below));
	return below + 1;
}

static uint64_t depth = 200;

static void run(struct worker *w)
{
	for (uint64_t i = 0; i < w->calls; i++) {
		uint64_t begin = now_ns();

		if (descend(depth, i % 2 ? w->options->delay_us * 1000 : 0) != depth)
			abort();
		truth_call(&outermost, w->index, begin);
	}
}

int main(int argc, char **argv)
{
	const struct bench_extra extras[] = {
		{ "depth", "N", "how deep (200; up to 60 every return can be seen)", &depth, NULL },
		{ 0 }
	};
	struct bench_options o = { .name = "recursion",
				   .what = "A deep recursion.",
				   .threads = 1,
				   .iterations = 503,
				   .delay_us = 500,
				   .seed = 1,
				   .extras = extras };
	uint64_t calls;
	double sci;

	bench_parse(&o, argc, argv);
	workers_run(&o, run);
	sci = truth_sci(&outermost, &calls);
	printf("expect block=descend calls=%" PRIu64, calls * depth);
	/* The stamps are the caller's, so they hold the probes of the whole descent. */
	if (depth <= 60)
		printf(" sci=%.3f+-%.3f cause=sleep", sci, sci * 0.1 > 0.03 ? sci * 0.1 : 0.03);
	printf("\n");
	return 0;
}
