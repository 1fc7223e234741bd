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

/* samples-00000042.fleet; false: another file. */
static bool number_of(const char *name, uint64_t *number)
{
	int end = 0;

	return sscanf(name, "samples-%8" SCNu64 ".fleet%n", number, &end) == 1 && end && !name[end];
}

static char *name_of(const struct fleet_dir *d, uint64_t number)
{
	return xasprintf("%s/samples-%08" PRIu64 ".fleet", d->path, number);
}

static int by_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static int cannot(const char *path, struct err *err)
{
	int rc = errno ? -errno : -EIO;

	return err_set(err, rc, "%s: %s; name a directory that can be written with --dir", path,
		       strerror(-rc));
}

static int list(const struct fleet_dir *d, struct numbers *found, struct err *err)
{
	DIR *dir = opendir(d->path);
	struct dirent *entry;
	uint64_t number;

	if (!dir)
		return cannot(d->path, err);
	while ((entry = readdir(dir)))
		if (number_of(entry->d_name, &number))
			*vec_add(found) = number;
	closedir(dir);
	vec_sort(found, by_number);
	return 0;
}

/* The oldest, until there is room for one more. */
static int make_room(struct fleet_dir *d, struct err *err)
{
	struct numbers found = { 0 };
	int rc = list(d, &found, err);

	for (size_t i = 0; !rc && i + d->files_max <= found.n; i++) {
		char *name = name_of(d, found.data[i]);

		if (unlink(name) && errno != ENOENT)
			rc = cannot(name, err);
		d->removed += !rc;
		free(name);
	}
	vec_release(&found);
	return rc;
}

static int lock(struct fleet_dir *d, struct err *err)
{
	char *name = xasprintf("%s/lock", d->path);
	int rc = 0;

	d->lock = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (d->lock < 0)
		rc = cannot(name, err);
	else if (flock(d->lock, LOCK_EX | LOCK_NB))
		rc = err_set(err, -EBUSY,
			     "%s: another ispot fleet record writes there; end it, or name another "
			     "directory with --dir",
			     d->path);
	free(name);
	return rc;
}

int fleet_dir_open(struct fleet_dir *d, const char *path, uint64_t files_max, uint64_t file_bytes,
		   struct err *err)
{
	struct numbers found = { 0 };
	int rc = 0;

	*d = (struct fleet_dir){
		.path = xstrdup(path), .lock = -1, .files_max = files_max, .file_bytes = file_bytes
	};
	if (mkdir(path, 0755) && errno != EEXIST)
		rc = cannot(path, err);
	if (!rc)
		rc = lock(d, err);
	if (!rc)
		rc = list(d, &found, err);
	d->next = found.n ? *vec_last(&found) + 1 : 1;
	vec_release(&found);
	return rc;
}

int fleet_dir_block(struct fleet_dir *d, const struct fleet_header *h, const struct fleet_block *b,
		    bool *begun, struct err *err)
{
	char *name;
	int rc = 0;

	*begun = false;
	if (d->file.file && d->file.bytes >= d->file_bytes)
		rc = fleet_writer_close(&d->file, err);
	if (!rc && !d->file.file) {
		rc = make_room(d, err);
		name = name_of(d, d->next);
		if (!rc)
			rc = fleet_writer_open(&d->file, name, h, err);
		*begun = !rc;
		d->next += !rc;
		free(name);
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
	free(d->path);
	*d = (struct fleet_dir){ .lock = -1 };
	return rc;
}
