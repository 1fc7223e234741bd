// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/identity.h"
#include "base/mem.h"
#include "base/text.h"

bool output_owner_is_trusted(uid_t owner)
{
	struct identity user;

	return owner == 0 || owner == geteuid() || (identity_of_sudo(&user) && owner == user.uid);
}

static bool names_a_descriptor(const char *path)
{
	return !strncmp(path, "/dev/fd/", 8) || !strncmp(path, "/proc/self/fd/", 14) ||
	       !strcmp(path, "/dev/stderr");
}

static int open_stdout(struct output *out, struct err *err)
{
	if (isatty(STDOUT_FILENO))
		return err_set(
			err, -EINVAL,
			"a trace cannot be written to a terminal; redirect standard output or name a file with -o");
	out->fd = STDOUT_FILENO;
	out->is_borrowed = true;
	return 0;
}

static int keep_old(const char *path, struct err *err)
{
	char *old = xasprintf("%s.old", path);
	int ret = 0;

	if (rename(path, old))
		ret = err_set(err, -errno,
			      "cannot keep %s as %s: %s; move it away or name another file with -o",
			      path, old, strerror(errno));
	free(old);
	return ret;
}

static int open_failed(const char *path, struct err *err)
{
	int code = -errno;

	return err_set(err, code,
		       "cannot write %s: %s; name a file in a directory that can be written", path,
		       strerror(-code));
}

/* O_EXCL: whoever may write to the directory cannot slip a link in after the checks. */
static int open_new_at(struct output *out, int dir, const char *name, struct err *err)
{
	struct identity user;

	out->fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (out->fd < 0)
		return open_failed(name, err);
	out->is_regular = true;
	flock(out->fd, LOCK_EX | LOCK_NB); /* shows readers that it is being written */
	if (identity_of_sudo(&user) && fchown(out->fd, user.uid, user.gid) && errno != EPERM)
		return err_set(err, -errno, "cannot give %s to user %u: %s", name,
			       (unsigned)user.uid, strerror(errno));
	return 0;
}

static int open_new(struct output *out, const char *path, struct err *err)
{
	return open_new_at(out, AT_FDCWD, path, err);
}

static int open_existing(struct output *out, const char *path, const struct stat *st,
			 struct err *err)
{
	int ret;

	if (S_ISDIR(st->st_mode))
		return err_set(err, -EISDIR, "%s is a directory; name a file with -o", path);
	if (S_ISREG(st->st_mode)) {
		ret = st->st_size ? keep_old(path, err) : 0;
		if (ret)
			return ret;
		if (st->st_size == 0 && unlink(path))
			return open_failed(path, err);
		return open_new(out, path, err);
	}
	if (geteuid() == 0 && S_ISFIFO(st->st_mode) && !output_owner_is_trusted(st->st_uid))
		return err_set(
			err, -EPERM,
			"%s is a pipe that belongs to another user; name another file with -o",
			path);
	out->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	return out->fd < 0 ? open_failed(path, err) : 0;
}

static int foreign_link(const char *path, struct err *err)
{
	return err_set(
		err, -EPERM,
		"%s is or passes a link that belongs to another user; remove it or name another file "
		"with -o",
		path);
}

/* Whether a directory on the way is a link that somebody else has made. */
static bool passes_foreign_link(const char *path)
{
	char *part = xstrdup(path);
	bool passes = false;
	struct stat st;

	for (char *slash = part; !passes && !geteuid() && (slash = strchr(slash + 1, '/'));) {
		*slash = '\0';
		passes = !lstat(part, &st) && S_ISLNK(st.st_mode) &&
			 !output_owner_is_trusted(st.st_uid);
		*slash = '/';
	}
	free(part);
	return passes;
}

static int open_path(struct output *out, const char *path, struct err *err)
{
	struct stat st;
	char target[PATH_MAX];

	if (passes_foreign_link(path))
		return foreign_link(path, err);
	if (lstat(path, &st))
		return errno == ENOENT ? open_new(out, path, err) : open_failed(path, err);
	if (!S_ISLNK(st.st_mode))
		return open_existing(out, path, &st, err);
	if (geteuid() == 0 && !output_owner_is_trusted(st.st_uid))
		return foreign_link(path, err);
	if (!realpath(path, target))
		return open_failed(path, err);
	if (lstat(target, &st))
		return open_failed(path, err);
	return open_existing(out, target, &st, err);
}

/* For files that come and go in it for a long time: nobody else may put names into it. */
static int open_directory(struct output *out, const char *path, struct err *err)
{
	struct stat st;

	if (mkdir(path, 0700) && errno != EEXIST)
		return err_set(err, -errno, "cannot make %s: %s; name another directory with %s",
			       path, strerror(errno), out->option);
	out->fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (out->fd < 0)
		return err_set(err, -errno, "%s: %s; name a directory, not a link to one, with %s",
			       path, strerror(errno), out->option);
	if (!fstat(out->fd, &st) && output_owner_is_trusted(st.st_uid) && !(st.st_mode & 022))
		return 0;
	close(out->fd);
	out->fd = -1;
	return err_set(err, -EPERM,
		       "others may write to %s; take that from them (chmod go-w, chown) or name "
		       "another directory with %s",
		       path, out->option);
}

static bool is_link_of(const char *path, uid_t uid)
{
	struct stat st;

	return !lstat(path, &st) && S_ISLNK(st.st_mode) && st.st_uid == uid;
}

/*
 * Under sudo as the user who called it: nothing is written that he may not write, and it works
 * where root may not (a home over NFS). Where he may not, as in root's own directories of a `sudo
 * -i`, root does it, by the same rules about links, and through none of that user's own.
 */
static int as_user(struct output *out, const char *path,
		   int (*open_it)(struct output *out, const char *path, struct err *err),
		   struct err *err)
{
	struct identity user;
	struct err why = { 0 };
	int ret;

	if (!identity_of_sudo(&user) || identity_files_as(&user))
		return open_it(out, path, err);
	ret = open_it(out, path, &why);
	identity_files_back();
	if (ret == -EACCES && !is_link_of(path, user.uid))
		return open_it(out, path, err);
	if (ret && err)
		*err = why;
	return ret;
}

int output_open(struct output *out, const char *path, struct err *err)
{
	int ret;

	*out = (struct output){ .fd = -1, .path = xstrdup(path) };
	if (!strcmp(path, "-") || !strcmp(path, "/dev/stdout")) {
		ret = open_stdout(out, err);
	} else if (names_a_descriptor(path)) {
		out->fd = open(path, O_WRONLY | O_CLOEXEC);
		ret = out->fd < 0 ? open_failed(path, err) : 0;
	} else {
		ret = as_user(out, path, open_path, err);
	}
	if (ret)
		output_close(out, NULL);
	return ret;
}

int output_open_at(struct output *out, int dir, const char *name, struct err *err)
{
	int ret;

	*out = (struct output){ .fd = -1, .path = xstrdup(name) };
	ret = open_new_at(out, dir, name, err);
	if (ret)
		output_close(out, NULL);
	return ret;
}

/* Makes nothing that stays, and leaves what there is as it is. Not blocking: nobody needs to read a
 * pipe yet. */
static int try_path(struct output *out, const char *path, struct err *err)
{
	struct stat st;
	int ret;

	if (passes_foreign_link(path))
		return foreign_link(path, err);
	if (lstat(path, &st)) {
		ret = errno == ENOENT ? open_new(out, path, err) : open_failed(path, err);
		if (!ret)
			unlink(path);
		return ret;
	}
	if (S_ISLNK(st.st_mode) && geteuid() == 0 && !output_owner_is_trusted(st.st_uid))
		return foreign_link(path, err);
	out->fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	return out->fd < 0 && errno != ENXIO ? open_failed(path, err) : 0;
}

int output_try(const char *path, struct err *err)
{
	struct output out = { .fd = -1, .path = xstrdup(path) };
	bool is_file =
		strcmp(path, "-") && strcmp(path, "/dev/stdout") && !names_a_descriptor(path);
	int ret = is_file ? as_user(&out, path, try_path, err) : 0;

	output_close(&out, NULL);
	return ret;
}

int output_directory(const char *path, const char *option, struct err *err)
{
	struct output out = { .fd = -1, .option = option };
	int ret = as_user(&out, path, open_directory, err);

	return ret ? ret : out.fd;
}

/* One write(2), resumed: bytes written, or a negative errno. */
static ssize_t write_some(int fd, const uint8_t *data, size_t n)
{
	for (;;) {
		ssize_t done = write(fd, data, n);

		if (done > 0)
			return done;
		if (done == 0)
			return -EIO;
		if (errno == EAGAIN) {
			struct pollfd p = { .fd = fd, .events = POLLOUT };

			poll(&p, 1, -1);
		} else if (errno != EINTR) {
			return -errno;
		}
	}
}

int output_patch(struct output *out, uint64_t offset, const void *data, size_t n)
{
	if (out->failed)
		return out->failed;
	if (!out->is_regular)
		return -ESPIPE;
	if (pwrite(out->fd, data, n, (off_t)offset) != (ssize_t)n)
		out->failed = errno ? -errno : -EIO;
	return out->failed;
}

void output_cut(struct output *out, uint64_t bytes)
{
	out->bytes = bytes;
	if (out->is_regular && !ftruncate(out->fd, (off_t)bytes))
		lseek(out->fd, (off_t)bytes, SEEK_SET);
}

static int fail(struct output *out, int code)
{
	out->failed = code;
	/* A frame cut off in the middle would only be damage to explain. */
	output_cut(out, out->bytes);
	return code;
}

bool output_retry(struct output *out)
{
	bool is_full = out->failed == -ENOSPC || out->failed == -EDQUOT || out->failed == -EFBIG;

	if (!is_full || !out->is_regular)
		return false;
	out->failed = 0;
	return true;
}

int output_write(struct output *out, const void *data, size_t n)
{
	const uint8_t *p = data;

	if (out->failed)
		return out->failed;
	for (size_t left = n; left;) {
		ssize_t done = write_some(out->fd, p, left);

		if (done < 0)
			return fail(out, (int)done);
		p += done;
		left -= (size_t)done;
	}
	out->bytes += n;
	return 0;
}

int output_explain(const struct output *out, struct err *err)
{
	switch (out->failed) {
	case 0:
		return 0;
	case -ENOSPC:
	case -EDQUOT:
		return err_set(
			err, out->failed,
			"%s: %s; what was written before is kept, free some space or name another file",
			out->path, strerror(-out->failed));
	case -EFBIG: /* not to be mistaken for --max-size */
		return err_set(
			err, -EDQUOT,
			"%s: %s; what was written before is kept, raise the limit with ulimit -f",
			out->path, strerror(EFBIG));
	case -EPIPE:
		return err_set(err, out->failed, "%s: its reader has gone away", out->path);
	default:
		return err_set(err, out->failed, "cannot write %s: %s", out->path,
			       strerror(-out->failed));
	}
}

int output_close(struct output *out, struct err *err)
{
	int ret;

	if (out->fd >= 0 && !out->is_borrowed && close(out->fd) && !out->failed && errno != EINTR)
		out->failed = -errno;
	out->fd = -1;
	ret = out->path ? output_explain(out, err) : out->failed;
	free(out->path);
	out->path = NULL;
	return ret;
}
