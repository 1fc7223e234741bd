/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A program that changes its hot functions after a known time: both phases must show up. */
#include "common.h"

struct phase_calls {
	uint64_t first, second;
	char pad[112]; /* own cache lines */
};

static struct phase_calls phase_calls[WORKERS_MAX];

TRACED void first_phase(unsigned thread)
{
	churn(50000, thread);
}

TRACED void second_phase(unsigned thread)
{
	churn(70000, thread);
}

static void run(struct worker *w)
{
	uint64_t phase_ns = w->options->delay_us * 1000, start = now_ns();

	while (now_ns() - start < phase_ns) {
		first_phase(w->index);
		phase_calls[w->index].first++;
	}
	while (now_ns() - start < 2 * phase_ns) {
		second_phase(w->index);
		phase_calls[w->index].second++;
	}
}

int main(int argc, char **argv)
{
	struct bench_options o = { .name = "phases",
				   .what = "Two phases of --delay each; -n has no effect.",
				   .threads = 2,
				   .delay_us = 5000000,
				   .seed = 1 };
	uint64_t first = 0, second = 0;

	bench_parse(&o, argc, argv);
	workers_run(&o, run);
	for (unsigned i = 0; i < o.threads; i++) {
		first += phase_calls[i].first;
		second += phase_calls[i].second;
	}
	expect_calls("first_phase", first);
	expect_calls("second_phase", second);
	return 0;
}
