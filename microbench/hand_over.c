/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Threads that do little but give the CPU to each other, on one CPU; after a while the program
 * forks a child that calls a function at a steady rate. What follows children must neither make
 * the threads' switches dear nor lose a call of theirs.
 */
#include <stdatomic.h>
#include <sys/wait.h>

#include "common.h"

enum { YIELDS = 50, CHILD_PAUSE_NS = 1000000 };

static atomic_bool stop;
static uint64_t made[WORKERS_MAX], child_calls = 300;

TRACED void handed_over(uint64_t i)
{
	churn(50, i);
}

TRACED void child_work(uint64_t i)
{
	churn(50, i);
}

static void *hand_over(void *arg)
{
	uint64_t *n = arg;

	while (!stop) {
		handed_over((*n)++);
		for (int i = 0; i < YIELDS; i++)
			sched_yield();
	}
	return NULL;
}

static void child(void)
{
	for (uint64_t i = 0; i < child_calls; i++) {
		child_work(i);
		sleep_ns(CHILD_PAUSE_NS);
	}
	_exit(0);
}

static void bear_children(uint64_t n, uint64_t pause_ns)
{
	for (uint64_t i = 0; i < n; i++) {
		pid_t pid;
		int status;

		sleep_ns(pause_ns);
		pid = fork();
		if (pid < 0)
			bench_die("fork");
		if (!pid)
			child();
		if (waitpid(pid, &status, 0) != pid || status)
			bench_die("a child failed");
	}
}

static struct bench_options o = {
	.name = "hand_over",
	.what = "Threads that give one CPU to each other; -n children, -d apart.",
	.threads = 3,
	.iterations = 1,
	.delay_us = 700000,
	.seed = 1
};
static uint64_t leave_us;
static pthread_t threads[WORKERS_MAX];

static void *finish(void *unused)
{
	uint64_t sum = 0;

	bear_children(o.iterations, o.delay_us * 1000);
	sleep_ns(o.iterations ? 0 : o.delay_us * 1000);
	stop = true;
	for (uint64_t i = 0; i < o.threads; i++) {
		pthread_join(threads[i], NULL);
		sum += made[i];
	}
	expect_calls("handed_over", sum);
	expect_calls("child_work", o.iterations * child_calls);
	fflush(stdout);
	return unused;
}

int main(int argc, char **argv)
{
	static const struct bench_extra extras[] = {
		{ "leave", "USEC", "the first thread ends after that (0: last)", &leave_us, NULL },
		{ "child-calls", "N", "of each child (300)", &child_calls, NULL },
		{ NULL }
	};
	pthread_t finisher;

	o.extras = extras;
	bench_parse(&o, argc, argv);
	stay_on_this_cpu();
	for (uint64_t i = 0; i < o.threads; i++)
		if (pthread_create(&threads[i], NULL, hand_over, &made[i]))
			bench_die("pthread_create");
	if (leave_us) {
		if (pthread_create(&finisher, NULL, finish, NULL))
			bench_die("pthread_create");
		sleep_ns(leave_us * 1000);
		pthread_exit(NULL);
	}
	finish(NULL);
	return 0;
}
