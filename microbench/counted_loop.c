/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Functions whose instructions per call are known: a loop of two instructions, each call around it
 * a few more. It prints them as `instructions BLOCK N`, to compare with what counters say.
 */
#include "common.h"

#define STEPS 50000

/*
 * Exactly two instructions a step. The loop may not lead back to a function's first instruction,
 * where its probe sits.
 */
static inline void two_each(uint64_t steps)
{
#if defined(__x86_64__)
	__asm__ volatile(" nop\n1: dec %0\n jnz 1b" : "+r"(steps) : : "cc");
#elif defined(__aarch64__)
	__asm__ volatile(" nop\n1: subs %0, %0, #1\n b.ne 1b" : "+r"(steps) : : "cc");
#endif
}

TRACED void counted_loop(uint64_t steps)
{
	two_each(steps);
}

/* Half of it is in the callee. */
TRACED void counted_outer(uint64_t steps)
{
	two_each(steps);
	counted_loop(steps);
	__asm__ volatile(""); /* no tail call */
}

static void run(struct worker *w)
{
	for (uint64_t i = 0; i < w->calls; i++)
		counted_outer(STEPS);
}

int main(int argc, char **argv)
{
	struct bench_options o = { .name = "counted_loop",
				   .what = "A loop of known instructions.",
				   .threads = 1,
				   .iterations = 503,
				   .seed = 1 };

	bench_parse(&o, argc, argv);
	workers_run(&o, run);
	printf("expect block=counted_loop calls=%" PRIu64 "\n", o.iterations);
	printf("instructions counted_loop %d\n", 2 * STEPS);
	printf("instructions counted_outer %d\n", 4 * STEPS);
	return 0;
}
