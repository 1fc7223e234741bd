/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Four mutexes in one array. Every thread takes the second one and holds it asleep, so that it is
 * contended on one CPU too; of the others each belongs to one thread in four. A line per mutex says
 * what happened to it, seen from inside: how often it was taken, how often it was held by another
 * one when a thread came for it, and for how long threads waited and held it, over all of them.
 */
#include "common.h"

#define LOCKS  4
#define SHARED 1

pthread_mutex_t locks[LOCKS] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
				 PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER };

static struct {
	uint64_t taken, contended, wait_ns, hold_ns;
	char pad[96];
} stats[LOCKS]; /* written by who holds the mutex */

static uint64_t delay_ns;
static unsigned held[LOCKS]; /* as far as a thread can see from outside */

static void use(unsigned lock, uint64_t hold_ns)
{
	uint64_t begin = now_ns(), got;
	bool contended = __atomic_load_n(&held[lock], __ATOMIC_RELAXED);

	pthread_mutex_lock(&locks[lock]);
	got = now_ns();
	__atomic_store_n(&held[lock], 1, __ATOMIC_RELAXED);
	stats[lock].taken++;
	stats[lock].contended += contended;
	stats[lock].wait_ns += got - begin;
	if (hold_ns)
		sleep_ns(hold_ns);
	stats[lock].hold_ns += now_ns() - got;
	__atomic_store_n(&held[lock], 0, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&locks[lock]);
}

TRACED void use_shared(void)
{
	use(SHARED, delay_ns);
}

TRACED void use_own(unsigned lock)
{
	use(lock, 0);
}

static void run(struct worker *w)
{
	static const unsigned own[] = { 0, 2, 3 };

	for (uint64_t i = 0; i < w->calls; i++) {
		use_shared();
		if (w->index < sizeof(own) / sizeof(*own))
			use_own(own[w->index]);
		sleep_ns(next_random(&w->random) % (2 * delay_ns + 1));
	}
}

int main(int argc, char **argv)
{
	struct bench_options o = { .name = "four_locks",
				   .what = "Four mutexes in one array, one of them contended.",
				   .threads = 3,
				   .iterations = 9001,
				   .delay_us = 50,
				   .seed = 1 };

	bench_parse(&o, argc, argv);
	delay_ns = o.delay_us * 1000;
	workers_run(&o, run);
	for (unsigned i = 0; i < LOCKS; i++)
		printf("lock %u offset=0x%zx taken=%" PRIu64 " contended=%" PRIu64
		       " wait_ns=%" PRIu64 " hold_ns=%" PRIu64 "\n",
		       i, i * sizeof(*locks), stats[i].taken, stats[i].contended, stats[i].wait_ns,
		       stats[i].hold_ns);
	return 0;
}
