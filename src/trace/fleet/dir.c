/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/fleet/dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/vec.h"

struct numbers {
	VEC(uint64_t)
};

#define NAME_BYTES 48

static const char *name_of(char name[NAME_BYTES], uint64_t number)
{
	snprintf(name, NAME_BYTES, "samples-%08" PRIu64 ".fleet", number);
	return name;
}

/* samples-00000042.fleet; false: another file. */
static bool number_of(const char *name, uint64_t *number)
{
	char same[NAME_BYTES];

	return sscanf(name, "samples-%" SCNu64, number) == 1 && *number < UINT64_MAX &&
	       !strcmp(name, name_of(same, *number));
}

static int cannot(const char *path, struct err *err)
{
	int rc = errno ? -errno : -EIO;

	return err_set(err, rc, "%s: %s; name a directory that can be written with --dir", path,
		       strerror(-rc));
}

static int list(const struct fleet_dir *d, struct numbers *found, struct err *err)
{
	int fd = openat(d->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	uint64_t number;

	if (!dir) {
		int rc = cannot(d->path, err);

		if (fd >= 0)
			close(fd);
		return rc;
	}
	while ((entry = readdir(dir)))
		if (number_of(entry->d_name, &number))
			*vec_add(found) = number;
	closedir(dir);
	vec_sort(found, vec_by_u64);
	return 0;
}

/* The oldest, until there is room for one more. */
static int make_room(struct fleet_dir *d, struct err *err)
{
	struct numbers found = { 0 };
	int rc = list(d, &found, err);

	for (size_t i = 0; !rc && i + d->files_max <= found.n; i++) {
		char name[NAME_BYTES];

		if (unlinkat(d->dir, name_of(name, found.data[i]), 0) && errno != ENOENT)
			rc = cannot(name, err);
		d->removed += !rc;
	}
	vec_release(&found);
	return rc;
}

static int lock(struct fleet_dir *d, struct err *err)
{
	d->lock = openat(d->dir, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (d->lock < 0)
		return cannot(d->path, err);
	if (flock(d->lock, LOCK_EX | LOCK_NB))
		return err_set(
			err, -EBUSY,
			"%s: another ispot fleet record writes there; end it, or name another "
			"directory with --dir",
			d->path);
	return 0;
}

int fleet_dir_open(struct fleet_dir *d, const char *path, uint64_t files_max, uint64_t file_bytes,
		   struct err *err)
{
	struct numbers found = { 0 };
	int rc = 0;

	*d = (struct fleet_dir){ .path = xstrdup(path),
				 .dir = output_directory(path, "--dir", err),
				 .lock = -1,
				 .files_max = files_max,
				 .file_bytes = file_bytes };
	if (d->dir < 0)
		rc = d->dir;
	if (!rc)
		rc = lock(d, err);
	if (!rc)
		rc = list(d, &found, err);
	d->next = found.n ? *vec_last(&found) + 1 : 1;
	vec_release(&found);
	return rc;
}

static int begin_file(struct fleet_dir *d, const struct fleet_header *h, struct err *err)
{
	char name[NAME_BYTES];
	int rc = make_room(d, err);

	if (!rc)
		rc = fleet_writer_open_at(&d->file, d->dir, name_of(name, d->next), h, err);
	d->next += !rc;
	return rc;
}

int fleet_dir_block(struct fleet_dir *d, const struct fleet_header *h, const struct fleet_block *b,
		    bool *begun, struct err *err)
{
	int rc = 0;

	*begun = false;
	if (fleet_writer_is_open(&d->file) && d->file.bytes >= d->file_bytes)
		rc = fleet_writer_close(&d->file, err);
	if (!rc && !fleet_writer_is_open(&d->file)) {
		rc = begin_file(d, h, err);
		*begun = !rc;
	}
	return rc ? rc : fleet_writer_block(&d->file, b, err);
}

int fleet_dir_end_file(struct fleet_dir *d, struct err *err)
{
	return fleet_writer_close(&d->file, err);
}

int fleet_dir_close(struct fleet_dir *d, struct err *err)
{
	int rc = fleet_writer_close(&d->file, err);

	if (d->path && d->lock >= 0)
		close(d->lock);
	if (d->path && d->dir >= 0)
		close(d->dir);
	free(d->path);
	*d = (struct fleet_dir){ .dir = -1, .lock = -1 };
	return rc;
}
