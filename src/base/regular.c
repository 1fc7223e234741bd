/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/regular.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* A look before the open: already to open a FIFO waits, and to open a device may do something. */
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
