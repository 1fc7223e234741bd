// SPDX-License-Identifier: GPL-3.0-or-later
#include "trace/frame/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/output.h"
#include "base/temporary.h"

#define COPY_BYTES (1u << 20)

static ssize_t read_some(int fd, void *buf, size_t n)
{
	ssize_t got;

	do
		got = read(fd, buf, n);
	while (got < 0 && errno == EINTR);
	return got;
}

static bool write_all(int fd, const char *buf, size_t n)
{
	while (n) {
		ssize_t done = write(fd, buf, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return false;
		buf += done;
		n -= (size_t)done;
	}
	return true;
}

static int spool(struct source *s, int from, struct err *err)
{
	char *buf;
	ssize_t got;

	s->fd = temporary_file(TEMPORARY_LARGE, err);
	if (s->fd < 0)
		return s->fd;
	buf = xmalloc(COPY_BYTES);
	while ((got = read_some(from, buf, COPY_BYTES)) > 0) {
		if (!write_all(s->fd, buf, (size_t)got)) {
			got = -1;
			break;
		}
		s->size += (uint64_t)got;
	}
	free(buf);
	return got < 0 ? err_set(err, -errno,
				 "cannot copy the trace to a temporary file: %s; set TMPDIR",
				 strerror(errno))
		       : 0;
}

/* As root, does not open another user's pipe, as that user could make open() wait forever. */
static int open_named(const char *path)
{
	int looked_at = open(path, O_PATH | O_CLOEXEC), fd = -1;
	char again[64];
	struct stat st;

	if (looked_at < 0)
		return -1;
	snprintf(again, sizeof(again), "/proc/self/fd/%d", looked_at);
	errno = EPERM;
	if (geteuid())
		fd = open(path, O_RDONLY | O_CLOEXEC);
	else if (!fstat(looked_at, &st) &&
		 (!S_ISFIFO(st.st_mode) || output_owner_is_trusted(st.st_uid)))
		fd = open(again, O_RDONLY | O_CLOEXEC);
	close(looked_at); /* a close() that succeeds does not change errno */
	return fd;
}

static int open_input(const char *path, struct err *err)
{
	int fd = strcmp(path, "-") ? open_named(path) : dup(STDIN_FILENO);

	if (fd >= 0)
		return fd;
	if (errno == ENOENT)
		return err_set(err, -ENOENT,
			       "there is no file '%s'; record one with `ispot record CMD`, or name "
			       "another file",
			       path);
	if (errno == EPERM)
		return err_set(err, -EPERM,
			       "%s is a pipe that belongs to another user; name another file with "
			       "-i",
			       path);
	if (errno == EACCES)
		return err_set(err, -EACCES,
			       "cannot read %s: %s; run the command with sudo, or as the user who "
			       "owns the file",
			       path, strerror(EACCES));
	return err_set(err, -errno, "cannot read %s: %s; name a file that may be read", path,
		       strerror(errno));
}

int source_open(struct source *s, const char *path, struct err *err)
{
	struct stat st;
	int fd = open_input(path, err), ret = 0;

	*s = (struct source){ .fd = -1, .read_ahead = SOURCE_LOOK };
	if (fd < 0)
		return fd;
	if (fstat(fd, &st)) {
		ret = err_set(err, -errno, "cannot read %s: %s; name a file that may be read", path,
			      strerror(errno));
	} else if (S_ISDIR(st.st_mode)) {
		ret = err_set(err, -EISDIR, "%s is a directory; name an ispot.data", path);
	} else if (S_ISREG(st.st_mode)) {
		s->fd = fd;
		s->size = (uint64_t)st.st_size;
		return 0;
	} else {
		ret = spool(s, fd, err);
	}
	close(fd);
	if (ret)
		source_release(s);
	return ret;
}

bool source_is_written(const struct source *s)
{
	if (s->fd < 0 || s->is_shared) /* a lock of one's own would be changed by asking */
		return false;
	if (flock(s->fd, LOCK_SH | LOCK_NB))
		return errno == EWOULDBLOCK;
	flock(s->fd, LOCK_UN);
	return false;
}

int source_open_fd(struct source *s, int fd, struct err *err)
{
	struct stat st;

	*s = (struct source){ .fd = fd, .is_shared = true, .read_ahead = SOURCE_LOOK };
	if (fstat(fd, &st))
		return err_set(err, -errno, "cannot read the file: %s; name one that may be read",
			       strerror(errno));
	s->size = (uint64_t)st.st_size;
	return 0;
}

void source_open_memory(struct source *s, const void *data, size_t n)
{
	*s = (struct source){ .fd = -1, .memory = data, .size = n };
}

void source_share(struct source *shared, const struct source *s)
{
	*shared = (struct source){ .fd = s->fd,
				   .size = s->size,
				   .memory = s->memory,
				   .is_shared = true,
				   .read_ahead = SOURCE_LOOK };
}

static void fill_window(struct source *s, uint64_t offset, size_t want)
{
	size_t most = want > s->read_ahead ? want : s->read_ahead;

	if (s->window_room < most) {
		free(s->window);
		s->window = xmalloc(most);
		s->window_room = most;
	}
	s->window_at = offset;
	s->window_n = 0;
	while (s->window_n < want) {
		ssize_t got = pread(s->fd, s->window + s->window_n, most - s->window_n,
				    (off_t)(offset + s->window_n));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return;
		s->window_n += (size_t)got;
	}
}

const uint8_t *source_at(struct source *s, uint64_t offset, size_t want, size_t *got)
{
	if (offset >= s->size) {
		*got = 0;
		return (const uint8_t *)"";
	}
	if (want > s->size - offset)
		want = (size_t)(s->size - offset);
	if (s->fd < 0) {
		*got = (size_t)(s->size - offset);
		return s->memory + offset;
	}
	if (offset < s->window_at || offset + want > s->window_at + s->window_n)
		fill_window(s, offset, want);
	*got = (size_t)(s->window_at + s->window_n - offset);
	return s->window + (offset - s->window_at);
}

void source_release(struct source *s)
{
	if (s->fd >= 0 && !s->is_shared)
		close(s->fd);
	free(s->window);
	*s = (struct source){ .fd = -1 };
}
