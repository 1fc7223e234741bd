/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Calls a known number of times from every kind of descendant: forks of the main thread, a fork
 * of another thread, threads of a fork, and a program started by `sh -c` (this one again).
 */
#include <sys/wait.h>

#include "common.h"

enum { MAIN_CALLS = 101, FORK_CALLS = 211, THREAD_CALLS = 307, SHELL_CALLS = 401, FORKS = 3 };

TRACED void child_work(uint64_t i)
{
	churn(200, i);
}

static void call(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		child_work(i);
}

static void *thread_calls(void *arg)
{
	(void)arg;
	call(THREAD_CALLS);
	return NULL;
}

static void two_threads(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		if ((errno = pthread_create(&threads[i], NULL, thread_calls, NULL)))
			bench_die("pthread_create");
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

static void wait_for(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || status) {
		fprintf(stderr, "children: a child failed\n");
		exit(1);
	}
}

static void fork_and_call(bool threads)
{
	pid_t pid = fork();

	if (pid < 0)
		bench_die("fork");
	if (!pid) {
		call(FORK_CALLS);
		if (threads)
			two_threads();
		_exit(0);
	}
	wait_for(pid);
}

static void *fork_in_thread(void *arg)
{
	(void)arg;
	fork_and_call(false);
	return NULL;
}

static void start_by_shell(const char *self)
{
	char command[4200];

	snprintf(command, sizeof(command), "'%s' --leaf 1; true", self);
	if (system(command))
		bench_die("sh -c");
}

static void all_descendants(void)
{
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	pthread_t thread;

	if (n < 0)
		bench_die("/proc/self/exe");
	self[n] = 0;
	call(MAIN_CALLS);
	for (int i = 0; i < FORKS; i++)
		fork_and_call(i == 0);
	if ((errno = pthread_create(&thread, NULL, fork_in_thread, NULL)))
		bench_die("pthread_create");
	pthread_join(thread, NULL);
	start_by_shell(self);
}

int main(int argc, char **argv)
{
	uint64_t leaf = 0;
	const struct bench_extra extras[] = {
		{ "leaf", "1", "be the program that sh -c starts", &leaf, NULL }, { 0 }
	};
	struct bench_options o = { .name = "children",
				   .what = "Calls from every kind of descendant.",
				   .threads = 1,
				   .iterations = 1,
				   .seed = 1,
				   .extras = extras };

	bench_parse(&o, argc, argv);
	if (leaf) {
		call(SHELL_CALLS);
		return 0;
	}
	for (uint64_t i = 0; i < o.iterations; i++)
		all_descendants();
	expect_calls("child_work", o.iterations * (MAIN_CALLS + (FORKS + 1) * FORK_CALLS +
						   2 * THREAD_CALLS + SHELL_CALLS));
	return 0;
}
