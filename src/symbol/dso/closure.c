/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program's libraries, from its own dynamic loader: `PT_INTERP --list PROGRAM` (glibc and musl).
 * Asking beats imitating: RPATH against RUNPATH, $ORIGIN, glibc-hwcaps, ld.so.cache, audit and
 * the built-in directories differ between loaders and distributions, and one wrong guess puts
 * probes into a file that the program never maps. --list maps the files and runs no constructor.
 * It executes the file that the program names as its loader; so does running the program, but
 * `check` does not run it: the loader must belong to root or to the user.
 */
#include "symbol/dso/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/text.h"

#define LIST_TIMEOUT_MS 10000
#define LIST_BYTES_MAX	(1 << 20)

static void add_path(struct dso_closure *out, const char *path, size_t n)
{
	for (size_t i = 0; i < out->n; i++) {
		if (strlen(out->paths[i]) == n && !strncmp(out->paths[i], path, n))
			return;
	}
	out->paths = xrealloc(out->paths, (out->n + 1) * sizeof(*out->paths));
	out->paths[out->n++] = xstrndup(path, n);
}

void dso_closure_release(struct dso_closure *c)
{
	for (size_t i = 0; i < c->n; i++)
		free(c->paths[i]);
	free(c->paths);
	*c = (struct dso_closure){ 0 };
}

static int check_loader(const struct dso *dso, struct err *err)
{
	const char *sudo_uid = getenv("SUDO_UID");
	struct stat st;

	if (stat(dso->interp, &st))
		return err_set(err, -ENOENT,
			       "%s needs the loader %s, which is not there; install its C library",
			       dso->path, dso->interp);
	if ((st.st_mode & S_IWOTH) || (st.st_uid != 0 && st.st_uid != getuid() &&
				       !(sudo_uid && st.st_uid == strtoul(sudo_uid, NULL, 10))))
		return err_set(err, -EPERM,
			       "%s names %s as its loader, which another user can change; "
			       "check where this program comes from",
			       dso->path, dso->interp);
	return 0;
}

/* Reads all of it, but neither for ever nor without end. */
static int read_all(int fd, struct text *out)
{
	char buf[4096];

	for (;;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		int ready = poll(&p, 1, LIST_TIMEOUT_MS);
		ssize_t n;

		if (ready < 0 && errno == EINTR)
			continue;
		if (ready <= 0)
			return -ETIMEDOUT;
		n = read(fd, buf, sizeof(buf));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return 0;
		text_addn(out, buf, (size_t)n);
		if (out->n > LIST_BYTES_MAX)
			return -EFBIG;
	}
}

static int spawn_list(const char *interp, char *program, char *const *environment, int output,
		      pid_t *pid)
{
	char *argv[] = { (char *)interp, "--list", program, NULL };
	posix_spawn_file_actions_t actions;
	int ret;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, output, 1);
	posix_spawn_file_actions_adddup2(&actions, output, 2);
	ret = -posix_spawn(pid, interp, &actions, NULL, argv, environment);
	posix_spawn_file_actions_destroy(&actions);
	return ret;
}

static int run_loader(const struct dso *dso, const char *program, char *const *environment,
		      struct text *out, struct err *err)
{
	/* The file itself, not a link to it: its $ORIGIN is there. Without a slash the loader takes
	 * it for a library's name. */
	char *real = realpath(program, NULL);
	char *word = real ? real : xasprintf("%s%s", strchr(program, '/') ? "" : "./", program);
	int pipe_fds[2], ret;
	pid_t pid = -1;

	if (pipe2(pipe_fds, O_CLOEXEC)) {
		free(word);
		return err_set(err, -errno, "cannot make a pipe: %s", strerror(errno));
	}
	ret = spawn_list(dso->interp, word, environment, pipe_fds[1], &pid);
	close(pipe_fds[1]);
	if (!ret)
		ret = read_all(pipe_fds[0], out);
	close(pipe_fds[0]);
	if (pid > 0) {
		if (ret)
			kill(pid, SIGKILL);
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	free(word);
	if (ret)
		return err_set(err, ret, "cannot ask %s for the libraries of %s: %s", dso->interp,
			       dso->path, strerror(-ret));
	return 0;
}

static int missing(const struct dso *dso, const char *name, size_t n, struct err *err)
{
	return err_set(
		err, -ENOENT,
		"%s needs %.*s, which the loader does not find; install it or set LD_LIBRARY_PATH",
		dso->path, (int)n, name);
}

/* How glibc (for a name with a slash) and musl say that they gave up; the library's name follows.
 */
static const char *find_fatal(const char *line, size_t n)
{
	static const char *const phrases[] = { "error while loading shared libraries: ",
					       "Error loading shared library " };

	for (size_t i = 0; i < sizeof(phrases) / sizeof(phrases[0]); i++) {
		const char *at = memmem(line, n, phrases[i], strlen(phrases[i]));

		if (at)
			return at + strlen(phrases[i]);
	}
	return NULL;
}

/* "	libm.so.6 => /lib/libm.so.6 (0x…)", "	/lib/ld.so (0x…)", "	linux-vdso.so.1 (0x…)",
 * "	libx.so => not found". */
static int parse_line(const struct dso *dso, const char *line, size_t n, struct dso_closure *out,
		      struct err *err)
{
	const char *fatal = find_fatal(line, n);
	const char *arrow = memmem(line, n, " => ", 4), *path, *end = memrchr(line, '(', n);

	if (fatal)
		return missing(dso, fatal, strcspn(fatal, ":\n"), err);
	if (!n || line[0] != '\t')
		return 0;
	path = arrow ? arrow + 4 : line + 1;
	if (arrow && !strncmp(path, "not found", 9))
		return missing(dso, line + 1, (size_t)(arrow - line - 1), err);
	if (!end || end <= path + 1 || end[-1] != ' ' || !memchr(path, '/', (size_t)(end - path)))
		return 0;
	add_path(out, path, (size_t)(end - path) - 1);
	return 0;
}

int dso_closure_in(struct dso_cache *cache, const char *program, char *const *environment,
		   struct dso_closure *out, struct err *err)
{
	struct text list = { 0 };
	struct dso *dso;
	int ret;

	*out = (struct dso_closure){ 0 };
	ret = dso_get(cache, program, &dso, err);
	if (ret)
		return ret;
	add_path(out, program, strlen(program));
	if (!dso->interp)
		return 0;
	ret = check_loader(dso, err);
	if (!ret)
		ret = run_loader(dso, program, environment, &list, err);
	for (char *line = list.s; !ret && line && *line;) {
		size_t n = strcspn(line, "\n");

		ret = parse_line(dso, line, n, out, err);
		line += n + (line[n] == '\n');
	}
	if (!ret)
		add_path(out, dso->interp, strlen(dso->interp));
	else
		dso_closure_release(out);
	text_release(&list);
	return ret;
}

int dso_closure(struct dso_cache *cache, const char *program, struct dso_closure *out,
		struct err *err)
{
	return dso_closure_in(cache, program, environ, out, err);
}
