// SPDX-License-Identifier: GPL-3.0-or-later
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "probes/inproc/drain.h"
#include "trace/meta/meta.h"
#include "trace/meta/print.h"
#include "trace/write/writer.h"

#define RING_BYTES_MAX (1ull << 30)

static void write_line(struct inproc_drain *d, struct text *line)
{
	trace_writer_meta(d->writer, line->s);
	text_release(line);
}

static bool is_sound(const struct inproc_header *h, uint64_t bytes)
{
	uint64_t rings_at = INPROC_PAGE + INPROC_SLOTS * sizeof(struct inproc_slot) + INPROC_NAMES;

	return h->magic == INPROC_MAGIC && h->version == INPROC_VERSION &&
	       h->slots == INPROC_SLOTS && h->rings_at == rings_at &&
	       h->names_bytes == INPROC_NAMES && h->names_at == rings_at - INPROC_NAMES &&
	       h->ring_bytes >= sizeof(struct inproc_record) && h->ring_bytes <= RING_BYTES_MAX &&
	       h->ring_bytes % sizeof(struct inproc_record) == 0 &&
	       bytes == rings_at + h->slots * h->ring_bytes;
}

static bool map_region(struct inproc_region *g, int fd)
{
	struct stat st;
	char *p;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) ||
	    pread(fd, &g->header, sizeof(g->header), 0) != sizeof(g->header) ||
	    !is_sound(&g->header, (uint64_t)st.st_size))
		return false;
	g->bytes = (uint64_t)st.st_size;
	p = mmap(NULL, g->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return false;
	g->header.vm[sizeof(g->header.vm) - 1] = '\0';
	g->shared = (struct inproc_header *)p;
	g->slots = (struct inproc_slot *)(p + INPROC_PAGE);
	g->names = p + g->header.names_at;
	g->rings = p + g->header.rings_at;
	g->seen = xcalloc(INPROC_SLOTS, sizeof(*g->seen));
	return true;
}

static void write_object(struct inproc_drain *d, struct inproc_region *g)
{
	char path[64], program[4096];
	struct text line = { 0 };
	struct meta_object o = { .build_id = "", .path = program };
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/exe", g->pid);
	n = readlink(path, program, sizeof(program) - 1);
	if (n < 0)
		n = snprintf(program, sizeof(program), "java");
	program[n] = '\0';
	o.id = g->object = (uint32_t)d->regions.n - 1;
	meta_print_object(&o, &line);
	write_line(d, &line);
}

static bool is_known(const struct inproc_drain *d, pid_t pid)
{
	vec_for_each (&d->regions, const struct inproc_region, g)
		if (g->pid == pid)
			return true;
	return false;
}

static void add_region(struct inproc_drain *d, const char *name, pid_t pid)
{
	char *path = xasprintf("%s/%s", d->directory, name);
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	struct inproc_region *g = vec_add(&d->regions);

	g->pid = pid;
	if (fd < 0 || !map_region(g, fd)) {
		d->refused_regions++;
		log_detail("%s is no region of a producer that this ispot knows", path);
	} else {
		write_object(d, g);
	}
	if (fd >= 0)
		close(fd);
	free(path);
}

void inproc_find_regions(struct inproc_drain *d)
{
	DIR *dir = opendir(d->directory);
	struct dirent *e;

	while (dir && (e = readdir(dir))) {
		char *end;
		long pid = strtol(e->d_name, &end, 10);

		if (pid > 0 && pid <= INT32_MAX && !strcmp(end, INPROC_SUFFIX) &&
		    !is_known(d, (pid_t)pid))
			add_region(d, e->d_name, (pid_t)pid);
	}
	if (dir)
		closedir(dir);
}

void inproc_region_release(struct inproc_region *g)
{
	if (g->shared)
		munmap(g->shared, g->bytes);
	vec_release(&g->ids);
	vec_release(&g->frames);
	vec_release(&g->stacks);
	free(g->seen);
}
