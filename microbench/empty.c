/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A hot function that does nothing, on some threads, optionally beside processes that hog the
 * CPUs. Whatever a tool reports for it is the tool's own cost: it must read as noise.
 */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "common.h"

TRACED void empty_call(void)
{
	__asm__ volatile("");
}

static void run(struct worker *w)
{
	for (uint64_t i = 0; i < w->calls; i++)
		empty_call();
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
		{ "hogs", "N", "processes that compete for the CPUs (0)", &hogs, NULL }, { 0 }
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
	workers_run(&o, run);
	for (uint64_t i = 0; i < hogs; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	printf("expect block=empty_call calls=%" PRIu64 " verdict=noise\n", o.iterations);
	return 0;
}
