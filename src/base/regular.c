/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/regular.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Opens for reading a file that was opened with O_PATH and found to be regular. A plain open() of
 * the name could block on a FIFO or have an effect on a device.
 */
static int open_again(int looked_at)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", looked_at);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	return fd < 0 ? -errno : fd;
}

int regular_open(const char *path, struct stat *st)
{
	int looked_at = open(path, O_PATH | O_CLOEXEC), ret;
	struct stat own;

	if (looked_at < 0)
		return -errno;
	if (!st)
		st = &own;
	if (fstat(looked_at, st))
		ret = -errno;
	else if (S_ISDIR(st->st_mode))
		ret = -EISDIR;
	else
		ret = S_ISREG(st->st_mode) ? open_again(looked_at) : -EINVAL;
	close(looked_at);
	return ret;
}

FILE *regular_fopen(const char *path)
{
	int fd = regular_open(path, NULL);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");

	if (fd < 0)
		errno = -fd;
	else if (!f)
		close(fd);
	return f;
}

/* Keeps holes: the file's size may be larger than memory. */
static int copy_data(int to, int from, off_t bytes)
{
	off_t at = 0;

	while (at < bytes && (at = lseek(from, at, SEEK_DATA)) >= 0 && at < bytes) {
		off_t end = lseek(from, at, SEEK_HOLE);

		if (end < 0 || lseek(to, at, SEEK_SET) < 0)
			return -errno;
		while (at < end && at < bytes) {
			size_t want = (size_t)((end < bytes ? end : bytes) - at);
			ssize_t n = sendfile(to, from, &at, want < 1 << 30 ? want : 1 << 30);

			if (n < 0 && errno != EINTR)
				return -errno;
			if (!n) /* the file was truncated meanwhile: the rest stays a hole */
				return 0;
		}
	}
	return 0;
}

int regular_copy(int from, off_t bytes, const char *name)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int ret = fd < 0 || ftruncate(fd, bytes) ? -errno : copy_data(fd, from, bytes);

	if (!ret &&
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL))
		ret = -errno;
	if (ret && fd >= 0)
		close(fd);
	return ret ? ret : fd;
}
