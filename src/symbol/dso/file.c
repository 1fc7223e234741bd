/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbol/dso/file.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/regular.h"

static uint64_t copies_bytes; /* of all files that are open */

static bool may_copy(uint64_t bytes)
{
	uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);

	return copies_bytes + bytes <= memory / DSO_COPIES_SHARE;
}

/*
 * The file of a path in /proc may be in another mount namespace, where the owner root is not this
 * machine's root: a container's root may be able to write it.
 */
static bool only_root_writes(const struct stat *st, const char *path)
{
	return !st->st_uid && !(st->st_mode & (S_IWGRP | S_IWOTH)) &&
	       strncmp(path, "/proc/", 6) != 0;
}

static int make_mappable(struct dso_file *file, const char *path, bool copied)
{
	int fd;

	if (!copied && only_root_writes(&file->st, path))
		return 0;
	if (!may_copy((uint64_t)file->st.st_size))
		return -EFBIG;
	fd = regular_copy(file->fd, file->st.st_size, "ispot-elf");
	if (fd < 0)
		return fd;
	file->original_fd = file->fd;
	file->fd = fd;
	file->copied_bytes = (uint64_t)file->st.st_size;
	copies_bytes += file->copied_bytes;
	return 0;
}

int dso_file_open(struct dso_file *file, const char *path, bool copied)
{
	int ret;

	*file = (struct dso_file){ .original_fd = -1 };
	file->fd = regular_open(path, &file->st);
	if (file->fd < 0)
		return file->fd;
	ret = make_mappable(file, path, copied);
	if (ret)
		dso_file_close(file);
	return ret;
}

int dso_file_take_original(struct dso_file *file)
{
	int fd = file->original_fd;

	file->original_fd = -1;
	return fd;
}

static void close_original(struct dso_file *file)
{
	if (file->original_fd >= 0)
		close(file->original_fd);
	file->original_fd = -1;
}

int dso_file_take(struct dso_file *file)
{
	int fd = file->fd;

	close_original(file);
	file->fd = -1;
	return fd;
}

void dso_file_forget(uint64_t copied_bytes)
{
	copies_bytes -= copied_bytes;
}

void dso_file_close(struct dso_file *file)
{
	close_original(file);
	if (file->fd >= 0) {
		close(file->fd);
		dso_file_forget(file->copied_bytes);
	}
	file->fd = -1;
}
