/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Consumers wait on a condition variable for items that a producer makes, a known time after it has
 * seen one of them wait, or later. Items come in pairs, so that about half of the calls find one
 * there and are fast. On however busy a machine: nothing is made before somebody waits for it.
 */
#include "common.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static uint64_t items, waiting, slept;
static struct truth takes = { .block = "take_item", .cause = "condition-wait" };

TRACED void take_item(unsigned thread)
{
	uint64_t begin = now_ns();

	pthread_mutex_lock(&lock);
	waiting++;
	while (!items)
		pthread_cond_wait(&filled, &lock);
	waiting--;
	items--;
	pthread_mutex_unlock(&lock);
	truth_call(&takes, thread, begin);
}

TRACED void put_items(uint64_t n)
{
	pthread_mutex_lock(&lock);
	items += n;
	pthread_cond_broadcast(&filled);
	pthread_mutex_unlock(&lock);
}

static bool is_awaited(void)
{
	bool awaited;

	pthread_mutex_lock(&lock);
	awaited = waiting && !items;
	pthread_mutex_unlock(&lock);
	return awaited;
}

static void *produce(void *arg)
{
	const struct bench_options *o = arg;

	for (uint64_t left = o->iterations; left;) {
		uint64_t n = left < 2 ? left : 2;

		while (!is_awaited())
			sleep_ns(o->delay_us * 100);
		sleep_ns(o->delay_us * 1000);
		put_items(n);
		left -= n;
	}
	return NULL;
}

static void run(struct worker *w)
{
	uint64_t before = sleeps_of_thread();

	for (uint64_t i = 0; i < w->calls; i++) {
		take_item(w->index);
		spin_ns(20000);
	}
	__atomic_fetch_add(&slept, sleeps_of_thread() - before, __ATOMIC_RELAXED);
}

int main(int argc, char **argv)
{
	struct bench_options o = { .name = "condvar",
				   .what = "Consumers wait on a condition variable for a producer.",
				   .threads = 1,
				   .iterations = 5003,
				   .delay_us = 300,
				   .seed = 1 };
	pthread_t producer;

	bench_parse(&o, argc, argv);
	if ((errno = pthread_create(&producer, NULL, produce, &o)))
		bench_die("pthread_create");
	workers_run(&o, run);
	pthread_join(producer, NULL);
	truth_print(&takes);
	expect_calls("put_items", (o.iterations + 1) / 2);
	printf("slept %" PRIu64 "\n", slept);
	return 0;
}
