/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbol/dso/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "base/regular.h"

static uint64_t copies_bytes; /* of all files */

static bool may_copy(uint64_t bytes)
{
	uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);

	return copies_bytes + bytes <= memory / DSO_COPIES_SHARE;
}

/*
 * In /proc a file may be another mount namespace's, whose root is not this machine's: a container's
 * root may write what looks like root's.
 */
static bool only_root_writes(const struct stat *st, const char *path)
{
	return !st->st_uid && !(st->st_mode & (S_IWGRP | S_IWOTH)) &&
	       strncmp(path, "/proc/", 6) != 0;
}

/* Holes stay holes: a file may claim to be larger than memory is. */
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
			if (!n) /* it was cut meanwhile: the rest is a hole */
				return 0;
		}
	}
	return 0;
}

static int copy_sealed(int from, off_t bytes)
{
	int fd = memfd_create("ispot-elf", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int ret = fd < 0 || ftruncate(fd, bytes) ? -errno : copy_data(fd, from, bytes);

	if (!ret &&
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL))
		ret = -errno;
	if (ret && fd >= 0)
		close(fd);
	return ret ? ret : fd;
}

static int make_mappable(struct dso_file *file, const char *path)
{
	int fd;

	if (only_root_writes(&file->st, path))
		return 0;
	if (!may_copy((uint64_t)file->st.st_size))
		return -EFBIG;
	fd = copy_sealed(file->fd, file->st.st_size);
	if (fd < 0)
		return fd;
	close(file->fd);
	file->fd = fd;
	file->copied_bytes = (uint64_t)file->st.st_size;
	copies_bytes += file->copied_bytes;
	return 0;
}

int dso_file_open(struct dso_file *file, const char *path)
{
	int ret;

	*file = (struct dso_file){ 0 };
	file->fd = regular_open(path, &file->st);
	if (file->fd < 0)
		return file->fd;
	ret = make_mappable(file, path);
	if (ret)
		dso_file_close(file);
	return ret;
}

int dso_file_take(struct dso_file *file)
{
	int fd = file->fd;

	file->fd = -1;
	return fd;
}

void dso_file_forget(uint64_t copied_bytes)
{
	copies_bytes -= copied_bytes;
}

void dso_file_close(struct dso_file *file)
{
	if (file->fd >= 0) {
		close(file->fd);
		dso_file_forget(file->copied_bytes);
	}
	file->fd = -1;
}
