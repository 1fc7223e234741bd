/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A perf.data as perf itself has written it for years: one event (task-clock), attributes of 112
 * bytes, no optional features. Each call is a sample at its exit; its period is the call's own
 * time in ns, its call chain the traced functions around it. Objects get made-up addresses, at
 * which the sample's place in the file is right, so that perf finds the symbols in the binaries.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"
#include "report/export/export.h"
#include "report/export/rows.h"
#include "symbol/dso/dso.h"
#include "trace/meta/meta.h"
#include "trace/record.h"
#include "base/output.h"

#define OBJECT_FIRST 0x100000000000ull
#define OBJECT_ROOM  0x100000000ull
#define CHAIN_MAX    127
#define STRING_ROOM  256

/* tools/perf/Documentation/perf.data-file-format.txt */
struct file_section {
	uint64_t offset, size;
};

struct file_header {
	char magic[8];
	uint64_t size, attr_size;
	struct file_section attrs, data, event_types;
	uint64_t features[4];
};

struct file_attr {
	unsigned char attr[PERF_ATTR_SIZE_VER5]; /* 112: what every reader knows */
	struct file_section ids;
};

struct file_start {
	struct file_header header;
	struct file_attr attr;
};

/* What follows records other than samples, and begins them in another order. */
struct sample_id {
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, unused;
};

struct perf_state {
	uint64_t bytes;	   /* of the data section */
	uint64_t *ips;	   /* [function id] */
	struct map named;  /* tids that have a name in the file */
	struct map mapped; /* pids that have mappings in the file */
};

static void put(struct export *e, const void *data, size_t n)
{
	struct perf_state *s = e->state;

	text_addn(&e->out, data, n);
	s->bytes += n;
}

static void fill_start(struct file_start *start, uint64_t data_bytes)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = PERF_ATTR_SIZE_VER5,
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN,
		.exclude_kernel = 1,
		.sample_id_all = 1,
		.comm = 1,
		.mmap = 1,
	};

	*start = (struct file_start){
		.header = { .magic = "PERFILE2",
			    .size = sizeof(struct file_header),
			    .attr_size = sizeof(struct file_attr),
			    .attrs = { sizeof(struct file_header), sizeof(struct file_attr) },
			    .data = { sizeof(*start), data_bytes } },
	};
	memcpy(start->attr.attr, &attr, PERF_ATTR_SIZE_VER5);
}

/* Where in its object's file each function begins: from the file if it is still there. */
static void find_ips(struct export *e, struct perf_state *s)
{
	struct dso_cache *cache = dso_cache_new();

	s->ips = xcalloc(e->meta->functions.n + 1, sizeof(*s->ips));
	vec_for_each (&e->meta->functions, const struct meta_function, f) {
		uint64_t offset = f->address, found = UINT64_MAX;
		struct dso *dso = NULL;

		if (!f->symbol)
			continue;
		if (!dso_get(cache, meta_object(e->meta, f->object)->path, &dso, NULL))
			found = dso_address_to_offset(dso, f->address);
		if (found != UINT64_MAX)
			offset = found;
		s->ips[f->id] = OBJECT_FIRST + f->object * OBJECT_ROOM + offset % OBJECT_ROOM;
	}
	dso_cache_free(cache);
}

static void begin(struct export *e)
{
	struct perf_state *s = xcalloc(1, sizeof(*s));
	struct file_start start;

	e->state = s;
	find_ips(e, s);
	fill_start(&start, 0);
	put(e, &start, sizeof(start));
	s->bytes = 0;
}

static size_t padded(const char *text, char buf[STRING_ROOM])
{
	size_t n = strnlen(text, STRING_ROOM - 8);

	memset(buf, 0, STRING_ROOM);
	memcpy(buf, text, n);
	return (n + 8) / 8 * 8;
}

static void put_comm(struct export *e, uint32_t pid, uint32_t tid, const char *comm,
		     uint64_t time_ns)
{
	char name[STRING_ROOM];
	size_t n = padded(comm, name);
	struct {
		struct perf_event_header h;
		uint32_t pid, tid;
	} r = { .h = { .type = PERF_RECORD_COMM, .misc = PERF_RECORD_MISC_USER },
		.pid = pid,
		.tid = tid };
	struct sample_id id = { .pid = pid, .tid = tid, .time = time_ns };

	r.h.size = (uint16_t)(sizeof(r) + n + sizeof(id));
	put(e, &r, sizeof(r));
	put(e, name, n);
	put(e, &id, sizeof(id));
}

static void put_mapping(struct export *e, const struct thread *t, const struct meta_object *o)
{
	char path[STRING_ROOM];
	size_t n = padded(o->path, path);
	struct {
		struct perf_event_header h;
		uint32_t pid, tid;
		uint64_t start, bytes, offset;
	} r = { .h = { .type = PERF_RECORD_MMAP, .misc = PERF_RECORD_MISC_USER },
		.pid = t->tgid,
		.tid = t->tgid,
		.start = OBJECT_FIRST + o->id * OBJECT_ROOM,
		.bytes = OBJECT_ROOM };
	struct sample_id id = { .pid = t->tgid, .tid = t->tgid, .time = e->start_ns };

	r.h.size = (uint16_t)(sizeof(r) + n + sizeof(id));
	put(e, &r, sizeof(r));
	put(e, path, n);
	put(e, &id, sizeof(id));
}

/* Before the first sample of a thread: its name, and its process's mappings. */
static void introduce(struct export *e, const struct thread *t)
{
	struct perf_state *s = e->state;

	if (map_get(&s->mapped, t->tgid) == MAP_NONE) {
		map_put(&s->mapped, t->tgid, 1);
		vec_for_each (&e->meta->objects, const struct meta_object, o)
			if (o->path && *o->path)
				put_mapping(e, t, o);
	}
	if (map_get(&s->named, t->tid) == MAP_NONE) {
		map_put(&s->named, t->tid, 1);
		put_comm(e, t->tgid, t->tid, t->comm, e->start_ns);
	}
}

static void on_record(struct export *e, const struct thread *t, const struct record *r)
{
	struct perf_state *s = e->state;

	if (!t || r->kind != REC_COMM || map_get(&s->named, t->tid) == MAP_NONE)
		return;
	put_comm(e, t->tgid, t->tid, t->comm, r->time_ns);
}

static void on_call(struct export *e, const struct thread *t, const struct call *c)
{
	const struct perf_state *s = e->state;
	uint64_t chain[CHAIN_MAX + 1] = { (uint64_t)PERF_CONTEXT_USER }, n = 1;
	struct {
		struct perf_event_header h;
		uint64_t ip;
		uint32_t pid, tid;
		uint64_t time;
		uint32_t cpu, unused;
		uint64_t period;
		uint64_t n_chain;
	} r = { .h = { .type = PERF_RECORD_SAMPLE, .misc = PERF_RECORD_MISC_USER },
		.ip = s->ips[c->id],
		.pid = t->tgid,
		.tid = t->tid,
		.time = c->exit_ns,
		.cpu = c->exit_cpu };

	introduce(e, t);
	chain[n++] = s->ips[c->id];
	for (const struct call *at = c->parent; at && at >= t->open && n <= CHAIN_MAX; at--)
		chain[n++] = s->ips[at->id];
	r.period = c->own_unknown || !c->own_ns ? 1 : c->own_ns;
	r.n_chain = n;
	r.h.size = (uint16_t)(sizeof(r) + n * sizeof(chain[0]));
	put(e, &r, sizeof(r));
	put(e, chain, n * sizeof(chain[0]));
}

static void end(struct export *e)
{
	struct perf_state *s = e->state;
	struct file_start start;

	fill_start(&start, s->bytes);
	export_write(e, "", 0);
	if (!e->failed)
		e->failed = output_patch(e->file, 0, &start, sizeof(start));
	map_release(&s->named);
	map_release(&s->mapped);
	free(s->ips);
	free(s);
}

const struct export_format export_perf = {
	.name = "perf",
	.what = "perf.data with a sample per call: perf report, perf script, hotspot",
	.is_binary = true,
	.begin = begin,
	.call = on_call,
	.record = on_record,
	.end = end,
};
