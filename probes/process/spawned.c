/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/process/spawned.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"

static bool replaced(const char *variable, const char *const *more)
{
	for (; *more; more++)
		if (!strncmp(variable, *more, strcspn(*more, "=") + 1))
			return true;
	return false;
}

static char **environment_with(const char *const *more)
{
	size_t n = 0, kept = 0;
	char **all;

	while (environ[n])
		n++;
	for (const char *const *m = more; *m; m++)
		n++;
	all = xcalloc(n + 1, sizeof(*all));
	for (char **e = environ; *e; e++)
		if (!replaced(*e, more))
			all[kept++] = *e;
	for (; *more; more++)
		all[kept++] = (char *)(uintptr_t)*more;
	return all;
}

static int spawn(pid_t *pid, char *const *words, const char *const *more)
{
	char **environment = environment_with(more);
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t interrupts;
	int rc;

	sigemptyset(&interrupts);
	sigaddset(&interrupts, SIGINT);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigdefault(&attributes, &interrupts);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
	rc = -posix_spawnp(pid, words[0], &actions, &attributes, words, environment);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	free(environment);
	return rc;
}

static int wait_for(pid_t pid)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, old;
	int status = 0;

	sigaction(SIGINT, &ignore, &old);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	sigaction(SIGINT, &old, NULL);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int spawned_run(char *const *words, const char *const *more, int *status)
{
	pid_t pid;
	int rc = spawn(&pid, words, more);

	if (!rc)
		*status = wait_for(pid);
	return rc;
}
