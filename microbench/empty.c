/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A hot function that does nothing, on some threads, optionally beside processes that hog the
 * CPUs. Whatever a tool reports for it is the tool's own cost: it must read as noise, as long as
 * the machine is as fast all the time. Whether it is, a loop tells with --steady that nobody
 * traces: what its typical turn of the slower half takes over one of the faster half.
 */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "common.h"

TRACED void empty_call(void)
{
	__asm__ volatile("");
}

enum { CALLS_BETWEEN = 256, LOOP_TURNS = 2000 };

static uint64_t steady;
static double *slower_by; /* [worker] */

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static uint64_t loop_ns(void)
{
	uint64_t begin = now_ns();

	for (int i = 0; i < LOOP_TURNS; i++)
		__asm__ volatile("");
	return now_ns() - begin;
}

static void run_beside_loop(struct worker *w)
{
	uint64_t *took = calloc(w->calls / CALLS_BETWEEN + 1, sizeof(*took));
	size_t n = 0;

	for (uint64_t i = 0; i < w->calls; i++) {
		empty_call();
		if (i % CALLS_BETWEEN == 0)
			took[n++] = loop_ns();
	}
	qsort(took, n, sizeof(*took), by_value);
	if (n && took[n / 4])
		slower_by[w->index] = (double)took[3 * n / 4] / (double)took[n / 4];
	free(took);
}

static void run(struct worker *w)
{
	for (uint64_t i = 0; i < w->calls; i++)
		empty_call();
}

static void print_steadiness(size_t n)
{
	double most = 1;

	for (size_t i = 0; i < n; i++)
		most = slower_by[i] > most ? slower_by[i] : most;
	printf("machine steady=%.3f\n", most);
}

static pid_t start_hog(void)
{
	pid_t parent = getpid(), pid = fork();

	if (pid)
		return pid;
	/* A killed benchmark must not leave a hog behind. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
	for (;;)
		;
}

int main(int argc, char **argv)
{
	uint64_t hogs = 0;
	const struct bench_extra extras[] = {
		{ "hogs", "N", "processes that compete for the CPUs (0)", &hogs, NULL },
		{ "steady", "0|1", "how steady the machine was, by a loop between the calls (0)",
		  &steady, NULL },
		{ 0 }
	};
	struct bench_options o = { .name = "empty",
				   .what = "A hot function that does nothing.",
				   .threads = 1,
				   .iterations = 300007,
				   .seed = 1,
				   .extras = extras };
	pid_t pids[64];

	bench_parse(&o, argc, argv);
	if (hogs > 64)
		hogs = 64;
	for (uint64_t i = 0; i < hogs; i++)
		pids[i] = start_hog();
	slower_by = calloc(o.threads, sizeof(*slower_by));
	workers_run(&o, steady ? run_beside_loop : run);
	for (uint64_t i = 0; i < hogs; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	if (steady)
		print_steadiness(o.threads);
	free(slower_by);
	printf("expect block=empty_call calls=%" PRIu64 " verdict=noise\n", o.iterations);
	return 0;
}
