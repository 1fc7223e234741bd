/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/temporary.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"

#define DIRECTORIES_MAX 8 /* that exist at the same time */
#define PASSES_MAX	3 /* another process may still create files: do not try forever */

static const int ends[] = { SIGINT, SIGTERM, SIGHUP };
#define N_ENDS (sizeof(ends) / sizeof(*ends))

static char *volatile live[DIRECTORIES_MAX];
static pid_t owner; /* the process that made them: its forks do not remove them */
static bool caught[N_ENDS];

/* ---- removing ---- */

/*
 * Returns whether a file was removed. Listing a directory while removing its files may skip some,
 * so the caller repeats this until it returns false.
 */
static bool remove_files(int fd)
{
	_Alignas(struct dirent64) char entries[8192];
	bool any = false;
	ssize_t n;

	if (lseek(fd, 0, SEEK_SET))
		return false;
	while ((n = getdents64(fd, entries, sizeof(entries))) > 0)
		for (ssize_t at = 0; at < n;) {
			const struct dirent64 *e = (const void *)(entries + at);

			any |= !unlinkat(fd, e->d_name, 0);
			at += e->d_reclen;
		}
	return any;
}

void temporary_remove_at(int in, const char *directory)
{
	int fd = openat(in, directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0) {
		for (int i = 0; i < PASSES_MAX && remove_files(fd); i++)
			;
		close(fd);
	}
	unlinkat(in, directory, AT_REMOVEDIR);
}

void temporary_remove(const char *directory)
{
	temporary_remove_at(AT_FDCWD, directory);
}

void temporary_remove_all(void)
{
	for (size_t i = 0; owner == getpid() && i < DIRECTORIES_MAX; i++)
		if (live[i])
			temporary_remove(live[i]);
}

/* ---- the signals that end ispot ---- */

static void on_end(int number)
{
	temporary_remove_all();
	raise(number); /* SA_RESETHAND: ends the process once this handler has returned */
}

static void catch_ends(void)
{
	struct sigaction action = { .sa_handler = on_end, .sa_flags = SA_RESETHAND }, is;

	for (size_t i = 0; i < N_ENDS; i++)
		if (!sigaction(ends[i], NULL, &is) && is.sa_handler == SIG_DFL)
			caught[i] = !sigaction(ends[i], &action, NULL);
}

static void leave_ends(void)
{
	struct sigaction is;

	for (size_t i = 0; i < N_ENDS; i++) {
		if (caught[i] && !sigaction(ends[i], NULL, &is) && is.sa_handler == on_end)
			signal(ends[i], SIG_DFL);
		caught[i] = false;
	}
}

static void block_ends(sigset_t *before)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < N_ENDS; i++)
		sigaddset(&set, ends[i]);
	sigprocmask(SIG_BLOCK, &set, before);
}

/* ---- making ---- */

/* Replaces in by path in live[]; in NULL: takes a free slot, path NULL: frees the slot. */
static void note(char *in, char *path)
{
	bool any = false;

	for (size_t i = 0; i < DIRECTORIES_MAX; i++)
		if (live[i] == in) {
			live[i] = path;
			break;
		}
	for (size_t i = 0; i < DIRECTORIES_MAX; i++)
		any |= live[i] != NULL;
	owner = getpid();
	if (any)
		catch_ends();
	else
		leave_ends();
}

static char *template(const char *name, const char *otherwise)
{
	const char *dir = getenv("TMPDIR");

	return xasprintf("%s/%s.XXXXXX", dir && *dir ? dir : otherwise, name);
}

static int refuse(const char *path, int code, struct err *err)
{
	return err_set(err, -code, "cannot make %s: %s; set TMPDIR to a directory with room", path,
		       strerror(code));
}

int temporary_directory(char **path, const char *name, const char *otherwise, struct err *err)
{
	char *made = template(name, otherwise);
	sigset_t before;
	int rc = 0;

	block_ends(&before);
	if (mkdtemp(made))
		note(NULL, made);
	else
		rc = refuse(made, errno, err);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (rc) {
		free(made);
		made = NULL;
	}
	*path = made;
	return rc;
}

void temporary_release(char *path)
{
	sigset_t before;

	if (!path)
		return;
	block_ends(&before);
	temporary_remove(path);
	note(path, NULL);
	sigprocmask(SIG_SETMASK, &before, NULL);
	free(path);
}

int temporary_file(const char *otherwise, struct err *err)
{
	char *path = template("ispot", otherwise);
	int fd = mkostemp(path, O_CLOEXEC);

	if (fd >= 0)
		unlink(path);
	else
		fd = refuse(path, errno, err);
	free(path);
	return fd;
}
