/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/cost/switchcost.h"

#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "probes/process/child.h"

#define YIELDS	       200 /* of each of the two threads */
#define YIELDS_UNTIMED 20  /* between two looks at the clock, which may be traced, too */
#define BIRTHS	       20
#define BATCHES	       5 /* the cheapest one counts: interference only adds time */

/*
 * The child runs at this priority for a few ms. If other threads compete for the CPU, each yield
 * would give it to one of them, and what they leave in the caches would be measured. Without the
 * right to this priority the measurement may take too long, and a batch that was cut short is not
 * used.
 */
#define FIRST	   (-20)
#define ELAPSED_NS 200000000ull

static struct {
	pthread_barrier_t barrier;
	uint64_t until_ns;
	atomic_bool is_cut;
	bool over;
} shared;

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* The target's probes are in this process, too, and any function of libc may be traced. */
static void yield(void)
{
#ifdef __x86_64__
	long number = SYS_sched_yield;

	__asm__ volatile("syscall" : "+a"(number) : : "rcx", "r11", "memory");
#else
	register long number __asm__("x8") = SYS_sched_yield;
	register long result __asm__("x0");

	__asm__ volatile("svc #0" : "=r"(result) : "r"(number) : "memory");
#endif
}

static void yield_often(void)
{
	for (int i = 0; i < YIELDS && !shared.is_cut; i++) {
		yield();
		if (i % YIELDS_UNTIMED == 0 && clock_now_ns() > shared.until_ns)
			shared.is_cut = true;
	}
}

static void *partner(void *unused)
{
	while (pthread_barrier_wait(&shared.barrier), !shared.over) {
		yield_often();
		pthread_barrier_wait(&shared.barrier);
	}
	return unused;
}

static void *nothing(void *unused)
{
	return unused;
}

static double cheapest_birth(void)
{
	double best = NAN;

	shared.until_ns = clock_now_ns() + ELAPSED_NS;
	for (int i = 0; i < BATCHES && clock_now_ns() < shared.until_ns; i++) {
		uint64_t begin = cpu_ns();
		pthread_t thread;

		for (int k = 0; k < BIRTHS; k++)
			if (pthread_create(&thread, NULL, nothing, NULL) ||
			    pthread_join(thread, NULL))
				return NAN;
		best = fmin(best, (double)(cpu_ns() - begin) / BIRTHS);
	}
	return best;
}

static double cheapest_batch(void)
{
	double best = NAN;

	shared.until_ns = clock_now_ns() + ELAPSED_NS;
	for (int i = 0; i < BATCHES && !shared.is_cut; i++) {
		uint64_t begin;

		pthread_barrier_wait(&shared.barrier);
		begin = cpu_ns();
		yield_often();
		pthread_barrier_wait(&shared.barrier);
		if (!shared.is_cut)
			best = fmin(best, (double)(cpu_ns() - begin) / (2 * YIELDS));
	}
	shared.over = true;
	pthread_barrier_wait(&shared.barrier);
	return best;
}

static void child(int result_fd)
{
	struct switchcost cost;
	pthread_t thread;
	cpu_set_t one;

	setpriority(PRIO_PROCESS, 0, FIRST); /* if refused, the priority stays as it is */
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		_exit(1);
	pthread_barrier_init(&shared.barrier, NULL, 2);
	if (pthread_create(&thread, NULL, partner, NULL))
		_exit(1);
	cost.switch_ns = cheapest_batch();
	pthread_join(thread, NULL);
	cost.birth_ns = cheapest_birth();
	_exit(write(result_fd, &cost, sizeof(cost)) != sizeof(cost));
}

struct switchcost switchcost_measure(int (*prepare)(void *ctx, pid_t child), void *ctx)
{
	struct switchcost unknown = { NAN, NAN }, cost = unknown;
	int go_fd, result[2];
	pid_t pid;

	if (pipe2(result, O_CLOEXEC))
		return unknown;
	pid = child_fork_held(&go_fd, result[1]);
	if (!pid)
		child(result[1]);
	close(result[1]);
	if (pid > 0 && (!prepare || !prepare(ctx, pid)) && child_go(go_fd) &&
	    read(result[0], &cost, sizeof(cost)) != sizeof(cost))
		cost = unknown;
	close(result[0]);
	if (pid > 0) {
		close(go_fd);
		waitpid(pid, NULL, 0);
	}
	return cost;
}
