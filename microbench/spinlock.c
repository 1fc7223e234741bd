/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Threads queue for a lock that spins: nobody sleeps, so the wait shows as CPU time. The wait is
 * wrapped in a function of its own around the pause loop; the loop never branches back to the
 * function's entry, where a probe would fire again.
 */
#include <stdatomic.h>

#include "common.h"

static atomic_int taken;
static struct truth acquire = { .block = "spin_acquire",
				.cause = "lock",
				.verdict = "interference" };

static inline void cpu_pause(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#else
	__asm__ volatile("yield");
#endif
}

TRACED void spin_acquire(unsigned thread)
{
	uint64_t begin = now_ns();

	while (atomic_exchange_explicit(&taken, 1, memory_order_acquire))
		while (atomic_load_explicit(&taken, memory_order_relaxed))
			cpu_pause();
	truth_call(&acquire, thread, begin);
}

TRACED void spin_release(void)
{
	atomic_store_explicit(&taken, 0, memory_order_release);
}

static void run(struct worker *w)
{
	uint64_t hold_ns = w->options->delay_us * 1000;

	for (uint64_t i = 0; i < w->calls; i++) {
		spin_acquire(w->index);
		spin_ns(hold_ns);
		spin_release();
		spin_ns(next_random(&w->random) % (hold_ns + 1));
	}
}

int main(int argc, char **argv)
{
	struct bench_options o = { .name = "spinlock",
				   .what = "Threads queue for a spinning lock.",
				   .threads = 2,
				   .iterations = 20011,
				   .delay_us = 50,
				   .seed = 1 };

	bench_parse(&o, argc, argv);
	workers_run(&o, run);
	truth_print(&acquire);
	expect_calls("spin_release", o.iterations);
	return 0;
}
