/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/valgrind.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/vec.h"

struct words {
	VEC(char *)
};

static void add(struct words *w, char *word)
{
	*vec_add(w) = word;
}

static void add_dumps(struct words *w, const char *when, const char *const *functions)
{
	for (; *functions; functions++)
		add(w, xasprintf("--dump-%s=%s", when, *functions));
}

static void command_line(struct words *w, char *const *argv, const struct valgrind_options *o)
{
	static const char *const fixed[] = { "valgrind",
					     "-q",
					     "--tool=callgrind",
					     "--separate-threads=yes",
					     "--dump-instr=yes",
					     "--collect-jumps=yes",
					     "--compress-pos=no",
					     "--compress-strings=no",
					     NULL };

	for (const char *const *f = fixed; *f; f++)
		add(w, xstrdup(*f));
	add(w, xasprintf("--callgrind-out-file=%s/cg", o->dir));
	add(w, xasprintf("--log-file=%s/log", o->dir));
	if (o->caches)
		add(w, xstrdup("--cache-sim=yes"));
	add_dumps(w, "before", o->before);
	add_dumps(w, "before", o->around);
	add_dumps(w, "after", o->around);
	for (; *argv; argv++)
		add(w, xstrdup(*argv));
	vec_add(w);
}

/* Symbols are bound at the start, not within the work of the thread that is first to call. */
static char **environment_with(const char *more)
{
	size_t n = 0;
	char **all;

	while (environ[n])
		n++;
	all = xcalloc(n + 2, sizeof(*all));
	memcpy(all, environ, n * sizeof(*all));
	all[n] = (char *)(uintptr_t)more;
	return all;
}

static int spawn(pid_t *pid, char *const *words)
{
	char **environment = environment_with("LD_BIND_NOW=1");
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

/* Ctrl-C ends the command, and what it did until then is analysed. */
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

int valgrind_run(char *const *argv, const struct valgrind_options *o, int *status, struct err *err)
{
	struct words words = { 0 };
	pid_t pid;
	int rc;

	command_line(&words, argv, o);
	rc = spawn(&pid, words.data);
	vec_for_each (&words, char *, w)
		free(*w);
	vec_release(&words);
	if (rc == -ENOENT) {
		err_set(err, rc,
			"counting needs valgrind, which is not here; install the package "
			"valgrind");
		err->exit_status = 127;
		return rc;
	}
	if (rc)
		return err_set(err, rc, "valgrind: %s; does it run by itself?", strerror(-rc));
	*status = wait_for(pid);
	return 0;
}
