// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/inproc/region.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "probes/inproc/drain.h"
#include "probes/inproc/guarded.h"
#include "probes/inproc/lines.h"
#include "probes/inproc/whose.h"
#include "trace/meta/meta.h"
#include "trace/meta/print.h"

/* Limits the names that are read in a user's directory, which the user may fill. The limit suffices
 * to find one region more than are read. */
#define FIND_TURN_NAMES (2 * INPROC_REGIONS_MAX)

/* Rings must have the size that the recorder asked for, so that a producer cannot make one run read
 * for long. */
static bool is_sound(const struct inproc_header *h, uint64_t ring_bytes, uint64_t bytes)
{
	uint64_t rings_at = INPROC_PAGE + INPROC_SLOTS * sizeof(struct inproc_slot) + INPROC_NAMES;

	return h->magic == INPROC_MAGIC && h->version == INPROC_VERSION && h->clock == INPROC_NS &&
	       h->slots == INPROC_SLOTS && h->rings_at == rings_at &&
	       h->names_bytes == INPROC_NAMES && h->names_at == rings_at - INPROC_NAMES &&
	       h->ring_bytes == ring_bytes && bytes == rings_at + h->slots * h->ring_bytes;
}

/* Accepts only a file of the directory's owner, and no link to another one. */
static bool map_region(struct inproc_region *g, int fd, struct stat *st, uint64_t ring_bytes)
{
	char *p;

	if (fstat(fd, st) || !S_ISREG(st->st_mode) || st->st_uid != g->owner || st->st_nlink > 1 ||
	    pread(fd, &g->header, sizeof(g->header), 0) != sizeof(g->header) ||
	    !is_sound(&g->header, ring_bytes, (uint64_t)st->st_size))
		return false;
	g->memory = xcalloc(1, sizeof(*g->memory));
	if (guarded_map(g->memory, fd, (size_t)st->st_size))
		return false;
	p = g->memory->start;
	g->header.vm[sizeof(g->header.vm) - 1] = '\0';
	g->shared = (struct inproc_header *)p;
	g->slots = (struct inproc_slot *)(p + INPROC_PAGE);
	g->names = p + g->header.names_at;
	g->rings = p + g->header.rings_at;
	return true;
}

static void find_process(struct inproc_drain *d, struct inproc_region *g, const struct stat *st)
{
	pid_t pid = inproc_process_of(g->owner, g->named, st, inproc_quota_of(d, g->owner));

	g->is_checked = pid > 0;
	if (pid > 0)
		g->pid = pid;
	d->unchecked_regions += !g->is_checked;
}

static void write_object(struct inproc_drain *d, struct inproc_region *g)
{
	char exe[64], program[4096];
	struct text line = { 0 };
	struct meta_object o = { .build_id = "", .path = program };
	ssize_t n = -1;

	snprintf(exe, sizeof(exe), "/proc/%d/exe", g->pid);
	if (g->is_checked)
		n = readlink(exe, program, sizeof(program) - 1);
	if (n < 0)
		n = snprintf(program, sizeof(program), "java");
	program[n] = '\0';
	o.id = g->object = (uint32_t)d->regions.n - 1;
	meta_print_object(&o, &line);
	inproc_write_line(d->writer, &line);
}

static bool is_known(const struct inproc_drain *d, uid_t owner, pid_t pid)
{
	vec_for_each (&d->regions, const struct inproc_region, g)
		if (g->named == pid && g->owner == owner)
			return true;
	return false;
}

static void add_region(struct inproc_drain *d, int dir, uid_t owner, const char *name, pid_t pid)
{
	int fd = openat(dir, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct inproc_region *g = vec_add(&d->regions);
	struct stat st;

	inproc_quota_of(d, owner)->regions_left--;
	g->pid = g->named = pid;
	g->owner = owner;
	g->lock_function = MAP_NONE;
	if (fd < 0 || !map_region(g, fd, &st, d->ring_bytes)) {
		d->refused_regions++;
		log_detail("%s is no region of a producer that this ispot knows", name);
	} else {
		find_process(d, g, &st);
		write_object(d, g);
	}
	if (fd >= 0)
		close(fd);
}

static void add_or_refuse(struct inproc_drain *d, int dir, uid_t owner, const char *name, pid_t pid)
{
	struct inproc_quota *quota = inproc_quota_of(d, owner);

	if (quota->regions_left) {
		add_region(d, dir, owner, name, pid);
		return;
	}
	quota->is_full = true;
	d->refused_regions++;
	d->full_users++;
}

static void find_in(struct inproc_drain *d, DIR *dir, uid_t owner)
{
	struct dirent *e;
	unsigned names = 0;

	while (!inproc_quota_of(d, owner)->is_full && names++ < FIND_TURN_NAMES &&
	       (e = readdir(dir))) {
		char *end;
		long pid = strtol(e->d_name, &end, 10);

		if (pid > 0 && pid <= INT32_MAX && !strcmp(end, INPROC_SUFFIX) &&
		    !is_known(d, owner, (pid_t)pid))
			add_or_refuse(d, dirfd(dir), owner, e->d_name, (pid_t)pid);
	}
}

void inproc_find_regions(struct inproc_drain *d)
{
	DIR *all = d->directory ? opendir(d->directory) : NULL;
	struct dirent *e;

	while (all && (e = readdir(all))) {
		uint64_t owner;
		int fd = text_parse_u64(e->d_name, &owner)
				 ? -1
				 : openat(dirfd(all), e->d_name,
					  O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		DIR *dir = fd < 0 ? NULL : fdopendir(fd);

		if (dir)
			find_in(d, dir, (uid_t)owner);
		if (dir)
			closedir(dir);
		else if (fd >= 0)
			close(fd);
	}
	if (all)
		closedir(all);
}

void inproc_region_release(struct inproc_region *g)
{
	if (g->memory)
		guarded_unmap(g->memory);
	free(g->memory);
	vec_release(&g->ids);
	vec_release(&g->frames);
	vec_release(&g->stacks);
	free(g->seen);
}
