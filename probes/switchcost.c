/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/switchcost.h"

#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "probes/child.h"

#define YIELDS	1000 /* of each of the two threads */
#define BATCHES 5    /* the cheapest counts: others disturb, nothing helps */

static pthread_barrier_t barrier;

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static void yield_often(void)
{
	for (int i = 0; i < YIELDS; i++)
		sched_yield();
}

static void *partner(void *unused)
{
	for (int i = 0; i < BATCHES; i++) {
		pthread_barrier_wait(&barrier);
		yield_often();
		pthread_barrier_wait(&barrier);
	}
	return unused;
}

static double cheapest_batch(void)
{
	double best = INFINITY;

	for (int i = 0; i < BATCHES; i++) {
		uint64_t begin;
		double ns;

		pthread_barrier_wait(&barrier);
		begin = cpu_ns();
		yield_often();
		pthread_barrier_wait(&barrier);
		ns = (cpu_ns() - begin) / (2.0 * YIELDS);
		best = ns < best ? ns : best;
	}
	return best;
}

static void child(int result_fd)
{
	pthread_t thread;
	cpu_set_t one;
	double ns;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		_exit(1);
	pthread_barrier_init(&barrier, NULL, 2);
	if (pthread_create(&thread, NULL, partner, NULL))
		_exit(1);
	ns = cheapest_batch();
	pthread_join(thread, NULL);
	_exit(write(result_fd, &ns, sizeof(ns)) != sizeof(ns));
}

double switchcost_measure(int (*prepare)(void *ctx, pid_t child), void *ctx)
{
	int go_fd, result[2];
	double ns = NAN;
	pid_t pid;

	if (pipe2(result, O_CLOEXEC))
		return NAN;
	pid = child_fork_held(&go_fd, result[1]);
	if (!pid)
		child(result[1]);
	close(result[1]);
	if (pid > 0 && (!prepare || !prepare(ctx, pid)) && child_go(go_fd) &&
	    read(result[0], &ns, sizeof(ns)) != sizeof(ns))
		ns = NAN;
	close(result[0]);
	if (pid > 0) {
		close(go_fd);
		waitpid(pid, NULL, 0);
	}
	return ns;
}
