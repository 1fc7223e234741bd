/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Listing 1 of the ISPOT paper: each thread computes for a known delay, takes a lock that all
 * share, increments a shared variable, and lets the lock go. With --spin 1 the lock is a spinlock
 * in functions of its own: a probe on pthread_spin_lock's first instruction would fire on every
 * turn of its loop. Prints the mean time to get the lock, in ns, as the program itself sees it.
 *
 * The threads start at a barrier and run for a time, unless -n has a number of iterations as the
 * paper does: an unfair lock lets one thread finish those early and leaves the other without
 * anybody in its way.
 */
#include <stdatomic.h>

#include "common.h"

/* Section 5.7 runs the same program under Debian's coz-profiler, which wants to be told of
 * progress. */
#ifdef WITH_COZ
#include <coz.h>
#else
#define COZ_PROGRESS_NAMED(name)
#endif

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_int taken;
static uint64_t value, spin, delay_ns, hold_ns, run_ms = 500;
static pthread_barrier_t start;
static struct truth acquiring = { .block = "acquire", .cause = "lock" };

static inline void relax(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#else
	__asm__ volatile("yield");
#endif
}

static void spin_lock(void)
{
	while (atomic_exchange_explicit(&taken, 1, memory_order_acquire))
		while (atomic_load_explicit(&taken, memory_order_relaxed))
			relax();
}

TRACED void acquire(unsigned thread)
{
	uint64_t begin = now_ns();

	if (spin)
		spin_lock();
	else
		pthread_mutex_lock(&mutex);
	truth_call(&acquiring, thread, begin);
}

TRACED void release(void)
{
	if (spin)
		atomic_store_explicit(&taken, 0, memory_order_release);
	else
		pthread_mutex_unlock(&mutex);
}

static void run(struct worker *w)
{
	uint64_t end;

	pthread_barrier_wait(&start);
	end = now_ns() + run_ms * 1000000;
	for (uint64_t done = 0; goes_on(w, done, end); done++) {
		spin_ns(delay_ns);
		acquire(w->index);
		value++;
		if (hold_ns)
			spin_ns(hold_ns);
		release();
		COZ_PROGRESS_NAMED("turn");
	}
}

int main(int argc, char **argv)
{
	const struct bench_extra extras[] = {
		{ "spin", "0|1", "a spinlock instead of a POSIX lock (0)", &spin, NULL },
		{ "delay-ns", "NS", "the delay, finer than -d", &delay_ns, NULL },
		{ "hold-ns", "NS", "longer critical section, for few CPUs (0)", &hold_ns, NULL },
		{ "ms", "MS", "how long all threads run without -n (500)", &run_ms, NULL },
		{ 0 },
	};
	struct bench_options o = { .name = "paper_lock",
				   .what = "Listing 1 of the ISPOT paper: a lock after a delay.",
				   .threads = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN),
				   .seed = 1,
				   .extras = extras };

	bench_parse(&o, argc, argv);
	delay_ns += o.delay_us * 1000;
	pthread_barrier_init(&start, NULL, (unsigned)o.threads);
	workers_run(&o, run);
	truth_print(&acquiring);
	truth_print_mean(&acquiring);
	return 0;
}
