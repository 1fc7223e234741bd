/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbol/maps.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/err.h"
#include "base/interrupt.h"
#include "base/mem.h"

#define READ_BYTES \
	(256 << 10) /* read at once: a program may have thousands of mappings with long paths */

/* After this many lines, reading stops if a signal that ends ispot is pending. */
#define LINES_AT_ONCE 4096

static const char deleted_suffix[] = " (deleted)";

/* The kernel escapes a newline in a path as \012, and no other character. */
static char *unescape(const char *s)
{
	char *path = xstrdup(s), *to = path;

	for (const char *from = s; *from; to++) {
		if (!strncmp(from, "\\012", 4)) {
			*to = '\n';
			from += 4;
		} else {
			*to = *from++;
		}
	}
	*to = '\0';
	return path;
}

static bool parse_line(struct mapping_line *l, char *text, char permissions[8])
{
	unsigned major, minor;
	uint64_t inode;
	int name_at = 0;

	if (sscanf(text, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %x:%x %" SCNu64 " %n", &l->start,
		   &l->end, permissions, &l->file_offset, &major, &minor, &inode, &name_at) != 7)
		return false;
	l->device = makedev(major, minor);
	l->inode = (ino_t)inode;
	l->permissions = permissions;
	l->name = text + name_at;
	return true;
}

/* Lines are read whole: the rest of a long path could be what a hostile program wants to be read.
 */
int mappings_each(pid_t pid, mapping_visitor visit, void *ctx)
{
	char path[64], permissions[8], *text = NULL, *buffer;
	struct mapping_line line;
	bool goes_on = true;
	size_t room = 0;
	ssize_t n;
	FILE *file;
	int ret = 0;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return -errno;
	buffer = xmalloc(READ_BYTES);
	setvbuf(file, buffer, _IOFBF, READ_BYTES);
	while (goes_on && (n = getline(&text, &room, file)) > 0) {
		if (text[n - 1] == '\n')
			text[n - 1] = '\0';
		if (parse_line(&line, text, permissions))
			goes_on = visit(ctx, &line);
	}
	if (goes_on && ferror(file)) /* the process has ended, or belongs to another user */
		ret = -errno;
	free(text);
	fclose(file);
	free(buffer);
	return ret;
}

struct reading {
	struct mappings *m;
	unsigned lines;
};

static bool add_line(void *ctx, const struct mapping_line *line)
{
	struct reading *r = ctx;
	struct mappings *m = r->m;

	if (line->permissions[2] == 'x' && !strcmp(line->name, "[vdso]")) {
		m->vdso_start = line->start;
		m->vdso_end = line->end;
	}
	if (line->permissions[2] == 'x' && line->inode && *line->name == '/' && m->n < MAPPINGS_MAX)
		*vec_add(m) = (struct mapping){ .start = line->start,
						.end = line->end,
						.file_offset = line->file_offset,
						.device = line->device,
						.inode = line->inode,
						.path = unescape(line->name) };
	return ++r->lines % LINES_AT_ONCE || !interrupt_pending();
}

static int read_error(struct err *err, pid_t pid, int code)
{
	if (code == -ENOENT || code == -ESRCH)
		return err_set(err, -ESRCH, "no process %d; it has ended or the number is wrong",
			       (int)pid);
	if (code == -EACCES || code == -EPERM)
		return err_set(err, code, "cannot read the mappings of process %d; %s", (int)pid,
			       geteuid() ? "run with sudo"
					 : "not even root may here (a container, a security "
					   "module): run ispot where root may");
	return err_set(err, code, "cannot read /proc/%d/maps: %s; is /proc mounted?", (int)pid,
		       strerror(-code));
}

int mappings_read(struct mappings *m, pid_t pid, struct err *err)
{
	struct reading reading = { .m = m };
	int ret;

	mappings_release(m);
	m->vdso_start = m->vdso_end = 0;
	ret = mappings_each(pid, add_line, &reading);
	return ret ? read_error(err, pid, ret) : 0;
}

const struct mapping *mappings_find(const struct mappings *m, uint64_t address)
{
	/* the kernel lists the mappings in the order of their addresses */
	size_t low = vec_search(i, 0, m->n, m->data[i].end <= address);

	if (low == m->n || m->data[low].start > address)
		return NULL;
	return &m->data[low];
}

void mappings_release(struct mappings *m)
{
	vec_for_each (m, struct mapping, map)
		free(map->path);
	vec_release(m);
}

/*
 * File systems with devices of their own (btrfs, overlayfs) show another device in maps than stat()
 * returns. So if the inode is the same and the device differs, the link in map_files decides.
 */
static bool is_mapped_file(const struct mapping *m, pid_t pid, const char *path)
{
	struct stat st, mapped;
	char link[96];

	if (stat(path, &st) || st.st_ino != m->inode)
		return false;
	if (st.st_dev == m->device)
		return true;
	snprintf(link, sizeof(link), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)pid, m->start,
		 m->end);
	return !stat(link, &mapped) && mapped.st_dev == st.st_dev && mapped.st_ino == st.st_ino;
}

static bool ends_deleted(const char *path)
{
	size_t n = strlen(path), suffix = sizeof(deleted_suffix) - 1;

	return n > suffix && !strcmp(path + n - suffix, deleted_suffix);
}

int mapping_path(const struct mapping *m, pid_t pid, char *buf, size_t n, struct err *err)
{
	struct stat st;

	if ((size_t)snprintf(buf, n, "%s", m->path) < n && is_mapped_file(m, pid, buf))
		return 0;
	if ((size_t)snprintf(buf, n, "/proc/%d/root%s", (int)pid, m->path) < n &&
	    is_mapped_file(m, pid, buf))
		return 0;
	/*
	 * The path leads to the file neither from here nor from the process's root (a mount of
	 * another namespace), but map_files opens the mapped inode itself. This needs CAP_SYS_ADMIN
	 * or CAP_CHECKPOINT_RESTORE.
	 */
	if ((size_t)snprintf(buf, n, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)pid, m->start,
			     m->end) < n &&
	    !stat(buf, &st) && st.st_ino == m->inode)
		return 0;
	if (ends_deleted(m->path))
		return err_set(
			err, -ENOENT,
			"%.*s was deleted or replaced while process %d runs the old file; restart it",
			(int)(strlen(m->path) - sizeof(deleted_suffix) + 1), m->path, (int)pid);
	return err_set(
		err, -ENOENT,
		"%s on disk is not the file that process %d runs (replaced since it started); restart it",
		m->path, (int)pid);
}

int mapping_open(const struct mapping *m, pid_t pid)
{
	char path[4200];
	struct stat st;
	int fd = mapping_path(m, pid, path, sizeof(path), NULL)
			 ? -1
			 : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_ino != m->inode)) {
		close(fd);
		fd = -1;
	}
	return fd;
}
