/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Processes of the same program come and go beside each other on one CPU, as those of servers
 * that fork their workers: half of the workers of a round fork one of their own, the other half
 * end, and those that are left go on calling. Until 6.13 the kernel swaps the inherited events of
 * two such processes when it switches between them.
 */
#include <sched.h>
#include <sys/wait.h>

#include "common.h"

enum { CALLS = 11, TURNS = 4 };

static uint64_t pause_ns;

TRACED void forked_work(uint64_t i)
{
	churn(50, i);
}

/* Gives way after every call, or sleeps, so that the others of the round run in between. */
static void turn(uint64_t i)
{
	for (uint64_t k = 0; k < CALLS; k++) {
		forked_work(i + k);
		sched_yield();
	}
	if (pause_ns)
		sleep_ns(pause_ns);
}

static void reap(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || status) {
		fprintf(stderr, "forks: a child failed\n");
		_exit(1);
	}
}

static pid_t fork_one(void)
{
	pid_t pid = fork();

	if (pid < 0)
		bench_die("fork");
	return pid;
}

/* 1 turn, or TURNS and one of its child. */
static void worker(unsigned index)
{
	pid_t pid;

	turn(index);
	if (index % 2)
		_exit(0);
	pid = fork_one();
	turn(index);
	if (!pid)
		_exit(0);
	for (int i = 2; i < TURNS; i++)
		turn(index);
	reap(pid);
	_exit(0);
}

static void round_of(uint64_t workers)
{
	pid_t pids[WORKERS_MAX];

	for (unsigned i = 0; i < workers; i++) {
		pids[i] = fork_one();
		if (!pids[i])
			worker(i);
	}
	turn(0);
	for (unsigned i = 0; i < workers; i++)
		reap(pids[i]);
	turn(0);
}

int main(int argc, char **argv)
{
	struct bench_options o = {
		.name = "forks",
		.what = "Forked workers that come and go on one CPU; -t of them in each round.",
		.threads = 6,
		.iterations = 10,
		.seed = 1
	};
	uint64_t stay, leave;

	bench_parse(&o, argc, argv);
	pause_ns = o.delay_us * 1000;
	stay = (o.threads + 1) / 2;
	leave = o.threads / 2;
	stay_on_this_cpu();
	for (uint64_t i = 0; i < o.iterations; i++)
		round_of(o.threads);
	expect_calls("forked_work", o.iterations * CALLS * (2 + leave + stay * (TURNS + 1)));
	return 0;
}
