// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
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
#include "base/place.h"

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

/* The place of the file: its name in a directory, and the path as the user gave it. */
struct place {
	int dir;    /* AT_FDCWD: name is a whole path, which the kernel resolves */
	char *name; /* not a link, or one that the kernel may follow */
	const char *path;
};

static void leave(struct place *at)
{
	if (at->dir >= 0)
		close(at->dir);
	free(at->name);
}

static int foreign_link(const char *path, struct err *err)
{
	return err_set(
		err, -EPERM,
		"%s is or passes a link that belongs to another user; remove it or name another file "
		"with -o",
		path);
}

static int open_failed(const char *path, struct err *err)
{
	int code = -errno;

	return err_set(err, code,
		       "cannot write %s: %s; name a file in a directory that can be written", path,
		       strerror(-code));
}

/*
 * Finds the directory of a path. Another user's link could lead the path to files that this other
 * user chose. So as root, or under sudo with the rights of the user who called it, only links of
 * root or of that user are followed, step by step through descriptors that nobody can exchange
 * meanwhile. For anybody else the kernel resolves the path.
 */
static int find(struct place *at, const char *path, bool as_root, bool follow_last, struct err *err)
{
	bool under_sudo = !as_root && !geteuid();
	struct identity user;
	char *target;
	int ret;

	*at = (struct place){ .dir = AT_FDCWD, .path = path };
	if (!as_root && !(under_sudo && identity_of_sudo(&user))) {
		target = follow_last ? realpath(path, NULL) : NULL;
		at->name = target ? target : xstrdup(path);
		return 0;
	}
	ret = place_open_parent(path, under_sudo ? user.uid : 0, follow_last, &at->name);
	if (ret == -EPERM)
		return foreign_link(path, err);
	errno = -ret;
	if (ret < 0)
		return open_failed(path, err);
	at->dir = ret;
	return 0;
}

static int rename_old(const struct place *at, struct err *err)
{
	char *old = xasprintf("%s.old", at->name);
	int ret = 0;

	if (renameat(at->dir, at->name, at->dir, old))
		ret = err_set(
			err, -errno,
			"cannot keep %s as %s.old: %s; move it away or name another file with -o",
			at->path, at->path, strerror(errno));
	free(old);
	return ret;
}

/* O_EXCL: somebody else who may write to the directory could put a link there after the checks. */
static int open_new(struct output *out, const struct place *at, struct err *err)
{
	struct identity user;

	out->fd = openat(at->dir, at->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
			 0600);
	if (out->fd < 0)
		return open_failed(at->path, err);
	out->is_regular = true;
	flock(out->fd, LOCK_EX | LOCK_NB); /* tells readers that a writer is active */
	if (identity_of_sudo(&user) && fchown(out->fd, user.uid, user.gid) && errno != EPERM)
		return err_set(
			err, -errno,
			"cannot give %s to user %u: %s; write to a file system that has owners",
			at->path, (unsigned)user.uid, strerror(errno));
	return 0;
}

static int foreign_pipe(const char *path, struct err *err)
{
	return err_set(err, -EPERM,
		       "%s is a pipe that belongs to another user; name another file with -o",
		       path);
}

static int open_existing(struct output *out, const struct place *at, const struct stat *st,
			 struct err *err)
{
	struct stat is;
	int ret;

	if (S_ISDIR(st->st_mode))
		return err_set(err, -EISDIR, "%s is a directory; name a file with -o", at->path);
	if (S_ISREG(st->st_mode)) {
		ret = st->st_size ? rename_old(at, err) : 0;
		if (ret)
			return ret;
		if (st->st_size == 0 && unlinkat(at->dir, at->name, 0))
			return open_failed(at->path, err);
		return open_new(out, at, err);
	}
	if (geteuid() == 0 && S_ISFIFO(st->st_mode) && !output_owner_is_trusted(st->st_uid))
		return foreign_pipe(at->path, err);
	out->fd = openat(at->dir, at->name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	if (out->fd < 0 || fstat(out->fd, &is))
		return open_failed(at->path, err);
	if (is.st_ino != st->st_ino || is.st_dev != st->st_dev)
		return foreign_pipe(at->path, err);
	return 0;
}

/* Whether ispot runs as root and this is a link of a user whom root does not trust. */
static bool is_foreign_link(const struct stat *st)
{
	return S_ISLNK(st->st_mode) && !geteuid() && !output_owner_is_trusted(st->st_uid);
}

/*
 * Whether the name is a link to a regular file or to nothing. Such a link is replaced, as the user
 * named the link and not the data that it leads to. A link to a pipe or a device is followed.
 */
static bool leads_to_a_file(const struct place *at)
{
	struct stat st;

	if (fstatat(at->dir, at->name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISLNK(st.st_mode))
		return false;
	return fstatat(at->dir, at->name, &st, 0) || S_ISREG(st.st_mode);
}

/* Renames the link itself to FILE.old, not the file that it leads to. */
static int replace_link(struct output *out, const struct place *at, struct err *err)
{
	int ret = rename_old(at, err);

	return ret ? ret : open_new(out, at, err);
}

/* Does what find() does, but does not follow a last link that the new file will replace. */
static int find_room(struct place *at, const char *path, bool as_root, bool *is_link,
		     struct err *err)
{
	struct stat st;
	int ret = find(at, path, as_root, false, err);

	if (ret)
		return ret;
	if (!fstatat(at->dir, at->name, &st, AT_SYMLINK_NOFOLLOW) && is_foreign_link(&st)) {
		leave(at);
		return foreign_link(path, err);
	}
	*is_link = leads_to_a_file(at);
	if (*is_link)
		return 0;
	leave(at);
	return find(at, path, as_root, true, err);
}

static int open_path(struct output *out, const char *path, bool as_root, struct err *err)
{
	struct place at;
	struct stat st;
	bool is_link;
	int ret = find_room(&at, path, as_root, &is_link, err);

	if (ret)
		return ret;
	if (is_link)
		ret = replace_link(out, &at, err);
	else if (!fstatat(at.dir, at.name, &st, AT_SYMLINK_NOFOLLOW))
		ret = S_ISLNK(st.st_mode) ? (errno = ENOENT, open_failed(path, err))
					  : open_existing(out, &at, &st, err);
	else
		ret = errno == ENOENT ? open_new(out, &at, err) : open_failed(path, err);
	leave(&at);
	return ret;
}

/*
 * Opens or makes a directory in which files are created and removed for a long time, so nobody else
 * may create names in it.
 */
static int open_directory(struct output *out, const char *path, bool as_root, struct err *err)
{
	struct place at;
	struct stat st;
	int ret = find(&at, path, as_root, false, err);

	if (ret)
		return ret == -EPERM ? ret
				     : err_set(err, ret,
					       "cannot make %s: %s; name another directory with %s",
					       path, strerror(-ret), out->option);
	if (mkdirat(at.dir, at.name, 0700) && errno != EEXIST)
		ret = err_set(err, -errno, "cannot make %s: %s; name another directory with %s",
			      path, strerror(errno), out->option);
	else if ((out->fd = openat(at.dir, at.name,
				   O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) < 0)
		ret = err_set(err, -errno, "%s: %s; name a directory, not a link to one, with %s",
			      path, strerror(errno), out->option);
	leave(&at);
	if (ret ||
	    (!fstat(out->fd, &st) && output_owner_is_trusted(st.st_uid) && !(st.st_mode & 022)))
		return ret;
	close(out->fd);
	out->fd = -1;
	return err_set(err, -EPERM,
		       "others may write to %s; take that from them (chmod go-w, chown) or name "
		       "another directory with %s",
		       path, out->option);
}

/*
 * Opens the file with the rights of the user who called sudo: ispot writes nothing that this user
 * may not write, and can write where root may not (a home over NFS). If the user has no access, as
 * to root's own directories in a `sudo -i`, root opens the file and follows only root's links.
 */
static int as_user(struct output *out, const char *path,
		   int (*open_it)(struct output *out, const char *path, bool as_root,
				  struct err *err),
		   struct err *err)
{
	struct identity user;
	struct err why = { 0 };
	int ret;

	if (!identity_of_sudo(&user) || identity_files_as(&user))
		return open_it(out, path, !geteuid(), err);
	ret = open_it(out, path, false, &why);
	identity_files_back();
	if (ret == -EACCES)
		return open_it(out, path, true, err);
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
	struct place at = { .dir = dir, .name = (char *)name, .path = name };
	int ret;

	*out = (struct output){ .fd = -1, .path = xstrdup(name) };
	ret = open_new(out, &at, err);
	if (ret)
		output_close(out, NULL);
	return ret;
}

/* Creates the file and removes it again. */
static int try_new(struct output *out, const struct place *at, struct err *err)
{
	int ret = open_new(out, at, err);

	if (!ret)
		unlinkat(at->dir, at->name, 0);
	return ret;
}

/* A link can be renamed if another name can be made in its directory. */
static int try_beside_link(struct output *out, const struct place *at, struct err *err)
{
	struct place beside = *at;
	int ret;

	beside.name = xasprintf("%s.%d", at->name, (int)getpid());
	ret = try_new(out, &beside, err);
	free(beside.name);
	return ret;
}

/* Does not change an existing file. Opens without blocking: a pipe may have no reader yet. */
static int try_place(struct output *out, const struct place *at, struct err *err)
{
	struct stat st;

	if (fstatat(at->dir, at->name, &st, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? try_new(out, at, err) : open_failed(at->path, err);
	out->fd = openat(at->dir, at->name, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
	return out->fd < 0 && errno != ENXIO ? open_failed(at->path, err) : 0;
}

static int try_path(struct output *out, const char *path, bool as_root, struct err *err)
{
	struct place at;
	bool is_link;
	int ret = find_room(&at, path, as_root, &is_link, err);

	if (!ret) {
		ret = (is_link ? try_beside_link : try_place)(out, &at, err);
		leave(&at);
	}
	return ret;
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

/*
 * Calls write(2) again if a signal interrupts it. Returns the bytes written, or a negative errno.
 */
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
	/* Cuts off the incomplete frame, which readers would report as damage. */
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
	case -EFBIG: /* the file system's limit, not that of --max-size */
		return err_set(
			err, -EDQUOT,
			"%s: %s; what was written before is kept, raise the limit with ulimit -f",
			out->path, strerror(EFBIG));
	case -EPIPE:
		return err_set(err, out->failed,
			       "%s: its reader has gone away; begin that again, too", out->path);
	default:
		return err_set(err, out->failed, "cannot write %s: %s; is there room?", out->path,
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
