/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writes a perf.data file with attributes of 112 bytes, as perf itself wrote for years. Its event
 * is a tracepoint, "ispot:call", described by the file's tracing data (tracing.h). Each call is a
 * sample at its exit: its period is the call's own time in ns, its call chain the traced functions
 * around it. Objects get made-up addresses that preserve the functions' offsets in the files, so
 * that perf finds the symbols in the binaries.
 *
 * A second event, a dummy without samples, makes perf report sort by symbols: for a file that has
 * only tracepoints, it lists the calls instead.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/hash.h"
#include "base/mem.h"
#include "report/export/export.h"
#include "report/export/rows.h"
#include "report/export/tracing.h"
#include "symbol/dso/dso.h"
#include "trace/meta/meta.h"
#include "trace/record.h"
#include "base/output.h"
#include "symbol/dso/cache.h"

#define OBJECT_FIRST 0x100000000000ull
#define OBJECT_ROOM  0x100000000ull
#define CHAIN_MAX    127
#define STRING_ROOM  256

/* Feature sections of the file, in the order of their numbers. Without a hostname, hotspot takes
 * the file for one of another byte order. */
enum {
	FEATURE_TRACING_DATA = 1,
	FEATURE_HOSTNAME = 3,
	FEATURE_OSRELEASE = 4,
	FEATURE_ARCH = 6,
	FEATURE_EVENT_DESC = 12,
};

static const unsigned features[] = { FEATURE_TRACING_DATA, FEATURE_HOSTNAME, FEATURE_OSRELEASE,
				     FEATURE_ARCH, FEATURE_EVENT_DESC };
#define FEATURES_N (sizeof(features) / sizeof(features[0]))

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
	unsigned char attr[PERF_ATTR_SIZE_VER5]; /* 112 bytes, which every reader supports */
	struct file_section ids;
};

enum { EVENT_CALL, EVENT_DUMMY, EVENTS };

struct file_start {
	struct file_header header;
	struct file_attr attrs[EVENTS];
	uint64_t ids[EVENTS];
};

#define ID_OF(event) ((uint64_t)(event) + 1)

/* The fields at the end of records other than samples. Samples begin with these, in another
 * order. */
struct sample_id {
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, unused;
	uint64_t id;
};

struct perf_state {
	uint64_t bytes;	   /* size of the data section */
	uint64_t *ips;	   /* [function id] */
	struct text raw;   /* raw data of one sample */
	struct map named;  /* tids that have a name in the file */
	struct map mapped; /* pids that have mappings in the file */
};

static void append(struct export *e, const void *data, size_t n)
{
	struct perf_state *s = e->state;

	text_addn(&e->out, data, n);
	s->bytes += n;
}

static void fill_attr(struct file_start *start, unsigned event, uint32_t type, uint64_t config)
{
	struct file_attr *out = &start->attrs[event];
	struct perf_event_attr attr = {
		.type = type,
		.size = PERF_ATTR_SIZE_VER5,
		.config = config,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			       PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
			       PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW,
		.exclude_kernel = 1,
		.sample_id_all = 1,
		.comm = 1,
		.mmap = 1,
	};

	memcpy(out->attr, &attr, PERF_ATTR_SIZE_VER5);
	out->ids.offset = offsetof(struct file_start, ids) + event * sizeof(start->ids[0]);
	out->ids.size = sizeof(start->ids[0]);
	start->ids[event] = ID_OF(event);
}

static void fill_start(struct file_start *start, uint64_t data_bytes)
{
	*start = (struct file_start){
		.header = { .magic = "PERFILE2",
			    .size = sizeof(struct file_header),
			    .attr_size = sizeof(struct file_attr),
			    .attrs = { sizeof(struct file_header), sizeof(start->attrs) },
			    .data = { sizeof(*start), data_bytes } },
	};
	for (unsigned i = 0; i < FEATURES_N; i++)
		start->header.features[0] |= 1ull << features[i];
	fill_attr(start, EVENT_CALL, PERF_TYPE_TRACEPOINT, TRACING_EVENT_ID);
	fill_attr(start, EVENT_DUMMY, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
}

/* Sets the made-up address of each function, from its offset in the object's file, or from its
 * recorded address if the file is gone. */
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
	append(e, &start, sizeof(start));
	s->bytes = 0;
}

static size_t padded(const char *text, char buf[STRING_ROOM])
{
	size_t n = strnlen(text, STRING_ROOM - 8);

	memset(buf, 0, STRING_ROOM);
	memcpy(buf, text, n);
	return (n + 8) / 8 * 8;
}

static void write_comm(struct export *e, uint32_t pid, uint32_t tid, const char *comm,
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
	struct sample_id id = { .pid = pid, .tid = tid, .time = time_ns, .id = ID_OF(EVENT_CALL) };

	r.h.size = (uint16_t)(sizeof(r) + n + sizeof(id));
	append(e, &r, sizeof(r));
	append(e, name, n);
	append(e, &id, sizeof(id));
}

static void write_mapping(struct export *e, const struct thread *t, const struct meta_object *o)
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
	struct sample_id id = {
		.pid = t->tgid, .tid = t->tgid, .time = e->start_ns, .id = ID_OF(EVENT_CALL)
	};

	r.h.size = (uint16_t)(sizeof(r) + n + sizeof(id));
	append(e, &r, sizeof(r));
	append(e, path, n);
	append(e, &id, sizeof(id));
}

/* Writes the name of a thread and the mappings of its process before the thread's first sample. */
static void introduce(struct export *e, const struct thread *t)
{
	struct perf_state *s = e->state;

	if (map_get(&s->mapped, t->tgid) == MAP_NONE) {
		map_put(&s->mapped, t->tgid, 1);
		vec_for_each (&e->meta->objects, const struct meta_object, o)
			if (o->path && *o->path)
				write_mapping(e, t, o);
	}
	if (map_get(&s->named, t->tid) == MAP_NONE) {
		map_put(&s->named, t->tid, 1);
		write_comm(e, t->tgid, t->tid, t->comm, e->start_ns);
	}
}

static void on_record(struct export *e, const struct thread *t, const struct record *r)
{
	struct perf_state *s = e->state;

	if (!t || r->kind != REC_COMM || map_get(&s->named, t->tid) == MAP_NONE)
		return;
	write_comm(e, t->tgid, t->tid, t->comm, r->time_ns);
}

static void on_call(struct export *e, const struct thread *t, const struct call *c)
{
	struct perf_state *s = e->state;
	uint64_t chain[CHAIN_MAX + 1] = { (uint64_t)PERF_CONTEXT_USER }, n = 1;
	struct {
		struct perf_event_header h;
		uint64_t id, ip;
		uint32_t pid, tid;
		uint64_t time;
		uint32_t cpu, unused;
		uint64_t period;
		uint64_t n_chain;
	} r = { .h = { .type = PERF_RECORD_SAMPLE, .misc = PERF_RECORD_MISC_USER },
		.id = ID_OF(EVENT_CALL),
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
	s->raw.n = 0;
	tracing_call(&s->raw, t, c, export_function_name(e, c->id), meta_function(e->meta, c->id));
	r.h.size = (uint16_t)(sizeof(r) + n * sizeof(chain[0]) + s->raw.n);
	append(e, &r, sizeof(r));
	append(e, chain, n * sizeof(chain[0]));
	append(e, s->raw.s, s->raw.n);
}

/* Writes a string as perf does: the number of bytes that follow, the string, and NULs as
 * padding. */
static void write_string(struct text *out, const char *s)
{
	char padded_to[STRING_ROOM];
	uint32_t bytes;

	padded(s ? s : "", padded_to);
	bytes = (uint32_t)(strlen(padded_to) / 64 + 1) * 64;
	text_addn(out, (const char *)&bytes, sizeof(bytes));
	text_addn(out, padded_to, bytes);
}

/* Writes the names of the events, for readers that do not use tracing data. */
static void write_events(struct text *out, const struct file_start *start)
{
	static const char *const names[EVENTS] = {
		[EVENT_CALL] = "ispot:call", [EVENT_DUMMY] = "dummy"
	};
	const uint32_t head[2] = { EVENTS, PERF_ATTR_SIZE_VER5 }, n_ids = 1;

	text_addn(out, (const char *)head, sizeof(head));
	for (unsigned i = 0; i < EVENTS; i++) {
		text_addn(out, (const char *)start->attrs[i].attr, PERF_ATTR_SIZE_VER5);
		text_addn(out, (const char *)&n_ids, sizeof(n_ids));
		write_string(out, names[i]);
		text_addn(out, (const char *)&start->ids[i], sizeof(start->ids[i]));
	}
}

/* Writes the machine's name, by which readers look up its registers. If the recording has none, it
 * is that of this machine. */
static void write_machine(struct text *out, const char *machine)
{
	struct utsname here;

	if ((!machine || !*machine) && !uname(&here))
		write_string(out, here.machine);
	else
		write_string(out, machine);
}

static void fill_section(const struct export *e, const struct file_start *start, unsigned feature,
			 struct text *out)
{
	const struct meta_session *s = &e->meta->session;

	switch (feature) {
	case FEATURE_TRACING_DATA:
		tracing_describe(out);
		break;
	case FEATURE_HOSTNAME:
		write_string(out, s->hostname);
		break;
	case FEATURE_OSRELEASE:
		write_string(out, s->kernel);
		break;
	case FEATURE_ARCH:
		write_machine(out, s->machine);
		break;
	case FEATURE_EVENT_DESC:
		write_events(out, start);
		break;
	}
}

/* Writes the feature sections after the data: first the position of each, then their contents. */
static void write_features(struct export *e, const struct file_start *file)
{
	static const char nothing[8];
	struct text sections = { 0 };
	uint64_t start = file->header.data.offset + file->header.data.size +
			 FEATURES_N * sizeof(struct file_section);

	for (unsigned i = 0; i < FEATURES_N; i++) {
		struct file_section where = { .offset = start + sections.n };

		fill_section(e, file, features[i], &sections);
		where.size = start + sections.n - where.offset;
		text_addn(&sections, nothing, -sections.n % sizeof(nothing));
		text_addn(&e->out, (const char *)&where, sizeof(where));
	}
	text_addn(&e->out, sections.s, sections.n);
	text_release(&sections);
}

static void end(struct export *e)
{
	struct perf_state *s = e->state;
	struct file_start start;

	fill_start(&start, s->bytes);
	write_features(e, &start);
	export_write(e, "", 0);
	if (!e->failed)
		e->failed = output_patch(e->file, 0, &start, sizeof(start));
	text_release(&s->raw);
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
