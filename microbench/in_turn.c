/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Threads that are made in turn: each one has ended, and its number is free for another one, before
 * the next is made; all of them are waited for only then. The last one has six times the work of
 * the others: the line to blame says "planted:". -n counts the rounds: those of a later round have
 * the stacks of an earlier one's.
 */
#include <sys/syscall.h>

#include "common.h"

#define WORK 30000

static uint64_t length = 1, last;
static uint64_t sink[WORKERS_MAX * 8];

struct turn {
	uint64_t number;
	pid_t tid; /* of the program's process; 0: not begun */
};

static __attribute__((noinline)) void work(uint64_t me, uint64_t times)
{
	for (uint64_t i = 0; i < times; i++) /* planted: in turn */
		sink[me * 8] = churn(length, sink[me * 8]);
}

static void *run(void *arg)
{
	struct turn *turn = arg;

	__atomic_store_n(&turn->tid, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	work(turn->number, turn->number == last ? 6 * WORK : WORK);
	return NULL;
}

/* The kernel has taken it off its list: nobody waits for that by the C library. */
static void until_gone(const pid_t *tid)
{
	char path[64];

	while (!__atomic_load_n(tid, __ATOMIC_ACQUIRE))
		sleep_ns(100000);
	snprintf(path, sizeof(path), "/proc/self/task/%d", *tid);
	while (!access(path, F_OK))
		sleep_ns(100000);
}

static void round_of(uint64_t n)
{
	struct turn *turns = calloc(n, sizeof(*turns));
	pthread_t *threads = calloc(n, sizeof(*threads));

	for (uint64_t i = 0; i < n; i++) {
		turns[i].number = i;
		if (pthread_create(&threads[i], NULL, run, &turns[i]))
			bench_die("pthread_create");
		if (i != last)
			until_gone(&turns[i].tid);
	}
	for (uint64_t i = n; i-- > 0;) /* the one that has not ended first */
		pthread_join(threads[i], NULL);
	free(threads);
	free(turns);
}

int main(int argc, char **argv)
{
	const struct bench_extra extras[] = {
		{ "length", "N", "of what each thread does", &length, NULL }, { 0 }
	};
	struct bench_options o = {
		.name = "in_turn",
		.what = "Threads made one after the other; -n counts the rounds.",
		.threads = 6,
		.iterations = 1,
		.seed = 1,
		.extras = extras
	};

	bench_parse(&o, argc, argv);
	last = o.threads - 1;
	for (uint64_t i = 0; i < o.iterations; i++)
		round_of(o.threads);
	return 0;
}
