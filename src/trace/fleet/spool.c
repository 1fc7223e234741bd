/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/fleet/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"

#define NEW	".new" /* not locked yet */
#define PART	".part"
#define REFUSED ".refused"

#define LOCK	"lock"
#define QUIET_S 600 /* a recorder writes, and begins another file, far more often */

static int cannot(const struct fleet_spool *s, const char *name, struct err *err)
{
	int rc = errno ? -errno : -EIO;

	return err_set(err, rc, "%s/%s: %s; name a directory that can be written", s->path, name,
		       strerror(-rc));
}

#define ZFS_MAGIC      0x2fc12fc1 /* not the kernel's own */
#define BCACHEFS_MAGIC 0xca451a4e /* not in its headers of before 6.7 */

/* Of file systems that several machines may write to there are many; these are none. */
static bool is_of_one_machine(int fd)
{
	static const long kinds[] = { EXT4_SUPER_MAGIC,	     XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC,
				      F2FS_SUPER_MAGIC,	     TMPFS_MAGIC,     RAMFS_MAGIC,
				      OVERLAYFS_SUPER_MAGIC, ZFS_MAGIC,	      BCACHEFS_MAGIC };
	struct statfs st;

	if (fstatfs(fd, &st))
		return false;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if ((long)st.f_type == kinds[i])
			return true;
	return false;
}

int fleet_spool_open(struct fleet_spool *s, const char *path, uint64_t file_bytes, uint64_t file_ns,
		     struct err *err)
{
	*s = (struct fleet_spool){ .path = xstrdup(path),
				   .dir = output_directory(path, "--to", err),
				   .lock = -1,
				   .file_bytes = file_bytes,
				   .file_ns = file_ns };
	if (s->dir < 0)
		return s->dir;
	s->is_shared = !is_of_one_machine(s->dir);
	return 0;
}

/* ---- writing ---- */

static int begin_file(struct fleet_spool *s, const struct fleet_header *h, struct err *err)
{
	char *part, *new;
	int rc;

	free(s->name);
	s->name = xasprintf("%016" PRIx64 "-%08" PRIu64 ".fleet", h->id, s->next++);
	part = xasprintf("%s" PART, s->name);
	new = xasprintf("%s" NEW, s->name);
	rc = fleet_writer_open_at(&s->file, s->dir, new, h, err);
	if (!rc && (flock(s->file.out.fd, LOCK_EX) || renameat(s->dir, new, s->dir, part)))
		rc = cannot(s, new, err);
	free(part);
	free(new);
	s->begun_ns = clock_now_ns();
	return rc;
}

int fleet_spool_end_file(struct fleet_spool *s, struct err *err)
{
	char *part;
	int rc;

	if (!fleet_writer_is_open(&s->file))
		return 0;
	part = xasprintf("%s" PART, s->name);
	rc = fleet_writer_close(&s->file, err);
	/* A collector that finds it without its lock in between takes all of it. */
	if (!rc && renameat(s->dir, part, s->dir, s->name) && errno != ENOENT)
		rc = cannot(s, part, err);
	free(part);
	return rc;
}

int fleet_spool_block(struct fleet_spool *s, const struct fleet_header *h,
		      const struct fleet_block *b, struct err *err)
{
	int rc = 0;

	if (fleet_writer_is_open(&s->file) &&
	    (s->file.bytes >= s->file_bytes || clock_now_ns() - s->begun_ns >= s->file_ns))
		rc = fleet_spool_end_file(s, err);
	if (!rc && !fleet_writer_is_open(&s->file))
		rc = begin_file(s, h, err);
	return rc ? rc : fleet_writer_block(&s->file, b, err);
}

int fleet_spool_close(struct fleet_spool *s, struct err *err)
{
	int rc = s->path && s->dir >= 0 ? fleet_spool_end_file(s, err) : 0;

	if (s->path && s->lock >= 0)
		close(s->lock);
	if (s->path && s->dir >= 0)
		close(s->dir);
	free(s->path);
	free(s->name);
	*s = (struct fleet_spool){ .dir = -1, .lock = -1 };
	return rc;
}

/* ---- taking ---- */

/* 16 hexadecimal digits, "-", digits, ".fleet", and for one that is written ".part". */
static bool is_name(const char *name, bool *part)
{
	size_t hex = strspn(name, "0123456789abcdef"), digits;

	if (hex != 16 || name[hex] != '-')
		return false;
	digits = strspn(name + hex + 1, "0123456789");
	name += hex + 1 + digits;
	*part = !strcmp(name, ".fleet" PART);
	return digits >= 8 && digits <= 20 && (*part || !strcmp(name, ".fleet"));
}

/* In seconds of the file system's own clock, which the times of its files are of. */
static bool is_quiet(const struct fleet_spool *s, const struct stat *st)
{
	struct stat now;

	return !futimens(s->lock, NULL) && !fstat(s->lock, &now) &&
	       now.st_mtime - st->st_mtime >= QUIET_S;
}

/*
 * Its recorder holds a lock for as long as it lives. On file systems that machines share, and only
 * there, the lock may be unknown here, so the file also has to be quiet. NFS locks only what may be
 * written.
 */
static bool is_left(const struct fleet_spool *s, const char *name)
{
	int fd = openat(s->dir, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	bool left = fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) &&
		    !flock(fd, LOCK_EX | LOCK_NB) && (!s->is_shared || is_quiet(s, &st));

	if (fd >= 0)
		close(fd);
	return left;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int fleet_spool_list(const struct fleet_spool *s, struct fleet_spool_names *names, struct err *err)
{
	int fd = openat(s->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	bool part;

	if (!dir) {
		int rc = cannot(s, ".", err);

		if (fd >= 0)
			close(fd);
		return rc;
	}
	while ((entry = readdir(dir)))
		if (is_name(entry->d_name, &part) && (!part || is_left(s, entry->d_name)))
			*vec_add(names) = xstrdup(entry->d_name);
	closedir(dir);
	vec_sort(names, by_name);
	return 0;
}

/*
 * A file of its own, which is as private as those of samples: whoever may read the directory could
 * lock that. It is the directory's owner's, who may collect, too.
 */
static int open_lock(const struct fleet_spool *s)
{
	const int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
	int fd = openat(s->dir, LOCK, flags | O_CREAT | O_EXCL, 0600);
	struct stat st;

	if (fd < 0)
		return errno == EEXIST ? openat(s->dir, LOCK, flags) : fd;
	if (!geteuid() && !fstat(s->dir, &st) && fchown(fd, st.st_uid, st.st_gid))
		log_detail("%s/" LOCK " stays root's: %s", s->path, strerror(errno));
	return fd;
}

int fleet_spool_lock(struct fleet_spool *s, struct err *err)
{
	s->lock = open_lock(s);
	if (s->lock < 0)
		return cannot(s, LOCK, err);
	if (!flock(s->lock, LOCK_EX | LOCK_NB))
		return 0;
	if (errno != EWOULDBLOCK)
		return cannot(s, LOCK, err);
	return err_set(err, -EBUSY, "%s: another ispot fleet collect takes from there; end it",
		       s->path);
}

void fleet_spool_names_release(struct fleet_spool_names *names)
{
	vec_for_each (names, char *, name)
		free(*name);
	vec_release(names);
}

int fleet_spool_read(const struct fleet_spool *s, const char *name, struct err *err)
{
	int fd = openat(s->dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0 && errno != ELOOP && errno != ENXIO) {
		int rc = -errno;

		return err_set(err, rc, "%s/%s: %s; collect as a user who may read what is there",
			       s->path, name, strerror(-rc));
	}
	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode))
		return fd;
	if (fd >= 0)
		close(fd);
	return err_set(err, -EBADMSG,
		       "%s/%s: it is no regular file; put there what ispot fleet record wrote",
		       s->path, name);
}

int fleet_spool_remove(const struct fleet_spool *s, const char *name, struct err *err)
{
	return unlinkat(s->dir, name, 0) && errno != ENOENT ? cannot(s, name, err) : 0;
}

int fleet_spool_refuse(const struct fleet_spool *s, const char *name, struct err *err)
{
	char *kept = xasprintf("%s" REFUSED, name);
	int rc = renameat(s->dir, name, s->dir, kept) && errno != ENOENT ? cannot(s, name, err) : 0;

	free(kept);
	return rc;
}
