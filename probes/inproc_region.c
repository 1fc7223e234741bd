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
#include "probes/inproc_drain.h"
#include "trace/meta.h"
#include "trace/writer.h"

#define LEFT_NAMED     20 /* methods that are named of those left alone for the same reason */
#define RING_BYTES_MAX (1ull << 30)
#define NAME_STRINGS   3

static void write_line(struct inproc_drain *d, struct text *line)
{
	trace_writer_meta(d->writer, line->s);
	text_release(line);
}

/* ---- names ---- */

static void write_function(struct inproc_drain *d, const struct inproc_region *g, uint32_t id,
			   const struct inproc_name *n, const char *const strings[NAME_STRINGS])
{
	struct text line = { 0 };
	struct meta_function f = { .id = id,
				   .object = g->object,
				   .name = strings[0],
				   .symbol = strings[0],
				   .class = CLASS_UNKNOWN,
				   .exit = EXIT_RET_SITES,
				   .file = strings[2],
				   .line = n->line,
				   .block = "function",
				   .chosen = true };

	meta_print_function(&f, &line);
	write_line(d, &line);
}

static void add_function(struct inproc_drain *d, struct inproc_region *g,
			 const struct inproc_name *n, const char *const strings[NAME_STRINGS])
{
	char *key = xasprintf("%s %s %u", strings[0], strings[1], g->object);
	uint32_t known = d->functions.n, id = strtab_add(&d->functions, key);

	free(key);
	if (id == known)
		write_function(d, g, id, n, strings);
	if (n->id >= INPROC_IDS_MAX)
		return;
	while (g->ids.n <= n->id)
		*vec_add(&g->ids) = MAP_NONE;
	g->ids.data[n->id] = id;
}

static void leave(struct inproc_drain *d, const struct inproc_region *g,
		  const char *const strings[NAME_STRINGS])
{
	uint32_t reason = strtab_add(&d->left_reasons, strings[2]);
	struct text line = { 0 };
	struct meta_not_traced n = { .name = strings[0],
				     .object = g->header.vm,
				     .reason = strings[2],
				     .cpu_share = NAN,
				     .calls_per_s = NAN,
				     .cost_share = NAN };

	while (d->left_counts.n <= reason)
		vec_add(&d->left_counts);
	if (d->left_counts.data[reason]++ >= LEFT_NAMED)
		return;
	meta_print_not_traced(&n, &line);
	write_line(d, &line);
}

static void note(struct inproc_drain *d, const char *words)
{
	struct meta_notice n = { .code = "java", .text = words };
	struct text line = { 0 };

	log_notice("%s", words);
	meta_print_notice(&n, &line);
	write_line(d, &line);
}

/* Its strings, each with its end. */
static bool strings_of(const char *row, const char *end, const char *strings[NAME_STRINGS])
{
	const char *p = row + sizeof(struct inproc_name);

	for (unsigned i = 0; i < NAME_STRINGS; i++) {
		size_t room = (size_t)(end - p), n = strnlen(p, room);

		if (n == room)
			return false;
		strings[i] = p;
		p += n + 1;
	}
	return true;
}

void inproc_read_names(struct inproc_drain *d, struct inproc_region *g)
{
	uint64_t end = atomic_load_explicit(&g->shared->names_end, memory_order_acquire);
	const char *strings[NAME_STRINGS];
	struct inproc_name n;

	if (end > g->header.names_bytes)
		end = g->header.names_bytes;
	while (g->names_read + sizeof(n) <= end) {
		const char *row = g->names + g->names_read;

		memcpy(&n, row, sizeof(n));
		if (n.bytes < sizeof(n) || n.bytes > end - g->names_read ||
		    !strings_of(row, row + n.bytes, strings))
			break;
		if (n.kind == INPROC_FUNCTION || n.kind == INPROC_BLOCK)
			add_function(d, g, &n, strings);
		else if (n.kind == INPROC_LEFT)
			leave(d, g, strings);
		else if (n.kind == INPROC_NOTICE)
			note(d, strings[0]);
		g->names_read += n.bytes;
	}
}

/* ---- regions ---- */

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
	free(g->seen);
}
