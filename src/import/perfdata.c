// SPDX-License-Identifier: GPL-3.0-or-later
#include "import/perfdata.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/interrupt.h"
#include "base/mem.h"
#include "base/progress.h"
#include "base/text.h"
#include "import/formats.h"
#include "trace/frame/codec_stream.h"
#include "trace/frame/source.h"

#define PROGRESS_RECORDS 65536
#define RECORD_ROOM	 65536u /* the size of a record is 16 bits */
#define EVENTS_MAX	 65536u
#define IDS_MAX		 (1u << 20)
#define WORDS_MAX	 4096u
#define UNPACKED_MAX	 (256u << 20) /* of one record */
#define UNPACKED_RATIO	 256	      /* perf packs samples to a tenth */
#define PIPE_HEADER	 16u

enum feature {
	FEATURE_TRACING_DATA = 1,
	FEATURE_HOSTNAME = 3,
	FEATURE_OSRELEASE = 4,
	FEATURE_ARCH = 6,
	FEATURE_NRCPUS = 7,
	FEATURE_CMDLINE = 11,
	FEATURE_EVENT_DESC = 12,
	FEATURES = 256,
};

struct file_section {
	uint64_t offset, size;
};

struct file_header {
	char magic[8];
	uint64_t size, attr_size;
	struct file_section attrs, data, event_types;
	uint64_t features[4];
};

struct records {
	int (*record)(void *ctx, const struct perf_event_header *h);
	void *ctx;
	void *unzstd;
	struct text rest; /* decompressed part of a record that continues in the next piece */
	/* bytes that were decompressed, and the most, in proportion to the file's size */
	uint64_t unpacked, unpacked_most;
	union {
		uint8_t bytes[RECORD_ROOM];
		uint64_t align;
	} at, inner;
};

bool perfdata_is(const void *start, size_t n)
{
	return n >= PIPE_HEADER && !memcmp(start, "PERFILE2", 8);
}

/* ---- descriptions ---- */

struct cursor {
	const uint8_t *p;
	size_t left;
};

static const uint8_t *read_bytes(struct cursor *c, uint64_t n)
{
	const uint8_t *at = c->p;

	if (n > c->left) {
		c->left = 0;
		return NULL;
	}
	c->p += n;
	c->left -= n;
	return at;
}

static uint32_t read_u32(struct cursor *c)
{
	const uint8_t *at = read_bytes(c, 4);
	uint32_t v = 0;

	if (at)
		memcpy(&v, at, 4);
	return v;
}

static char *read_string(struct cursor *c)
{
	uint32_t n = read_u32(c);
	const uint8_t *at = read_bytes(c, n);

	return xstrndup(at ? (const char *)at : "", at ? strnlen((const char *)at, n) : 0);
}

static void read_attr(struct cursor *c, uint64_t size, struct perf_event_attr *attr)
{
	const uint8_t *at = read_bytes(c, size);

	memset(attr, 0, sizeof(*attr));
	if (at)
		memcpy(attr, at, size < sizeof(*attr) ? size : sizeof(*attr));
}

static void add_ids(struct perfdata *p, size_t event, struct cursor *c, uint64_t n)
{
	for (; n && c->left >= 8; n--) {
		const uint8_t *at = read_bytes(c, 8);
		uint64_t id;

		memcpy(&id, at, 8);
		if (p->by_id.n < IDS_MAX)
			map_put(&p->by_id, id, (uint32_t)event);
	}
}

static void name_event(struct perfdata_event *e, const char *name)
{
	free(e->name);
	e->name = xstrdup(name);
}

/* nr; size of an attribute; each: attribute, number of ids, name, ids */
static void event_names(struct perfdata *p, struct cursor *c)
{
	uint32_t n = read_u32(c), size = read_u32(c);

	for (uint32_t i = 0; i < n && c->left; i++) {
		struct perf_event_attr attr;
		uint32_t n_ids, index = MAP_NONE;
		char *name;

		read_attr(c, size, &attr);
		n_ids = read_u32(c);
		name = read_string(c);
		if (n_ids && c->left >= 8) {
			uint64_t id;

			memcpy(&id, c->p, 8);
			index = map_get(&p->by_id, id);
		}
		read_bytes(c, 8ull * n_ids);
		if (index == MAP_NONE && i < p->events.n &&
		    p->events.data[i].attr.config == attr.config)
			index = i;
		if (index != MAP_NONE)
			name_event(&p->events.data[index], name);
		free(name);
	}
}

static void command_line(struct perfdata *p, struct cursor *c)
{
	uint32_t n = read_u32(c);
	struct text words = { 0 };

	for (uint32_t i = 0; i < n && i < WORDS_MAX && c->left; i++) {
		char *word = read_string(c);

		text_add(&words, i ? " " : "");
		text_shell_word(&words, word);
		free(word);
	}
	free(p->command);
	p->command = xstrdup(words.s ? words.s : "");
	text_release(&words);
}

/* Keeps the first, as a file has only one. */
static void tracing_data(struct perfdata *p, const uint8_t *data, size_t n)
{
	if (p->tracing || !n || n > FORMATS_BYTES_MAX)
		return;
	p->tracing = xmalloc(n);
	memcpy(p->tracing, data, n);
	p->tracing_bytes = n;
}

static void feature(struct perfdata *p, uint64_t id, struct cursor c)
{
	char **const strings[FEATURES] = { [FEATURE_HOSTNAME] = &p->hostname,
					   [FEATURE_OSRELEASE] = &p->kernel,
					   [FEATURE_ARCH] = &p->machine };

	if (id < FEATURES && strings[id]) {
		free(*strings[id]);
		*strings[id] = read_string(&c);
	} else if (id == FEATURE_NRCPUS) {
		read_u32(&c);
		p->cpus = read_u32(&c); /* online */
	} else if (id == FEATURE_CMDLINE) {
		command_line(p, &c);
	} else if (id == FEATURE_EVENT_DESC) {
		event_names(p, &c);
	} else if (id == FEATURE_TRACING_DATA) {
		tracing_data(p, c.p, c.left);
	}
}

static bool is_read(unsigned feature)
{
	return feature == FEATURE_TRACING_DATA ||
	       (feature >= FEATURE_HOSTNAME && feature <= FEATURE_EVENT_DESC);
}

/* ---- the seekable file ---- */

/* Reads a section of at most max bytes; the caller frees it. */
static uint8_t *section(struct source *s, const struct file_section *at, size_t max, size_t *n)
{
	const uint8_t *p;
	uint8_t *copy;

	*n = 0;
	if (at->size > max)
		return NULL;
	p = source_at(s, at->offset, at->size, n);
	if (*n < at->size)
		return NULL;
	*n = at->size;
	copy = xmalloc(*n + 1);
	memcpy(copy, p, *n);
	return copy;
}

/*
 * Limits the ids read, not the distinct ones: in a hostile file each attribute may name the same
 * large section full of equal ids.
 */
static void read_ids(struct perfdata *p, struct source *s, const struct file_section *where)
{
	uint64_t most = 8 * (IDS_MAX - p->ids_read);
	struct cursor c;
	uint8_t *ids;
	size_t n;

	if (where->size > most)
		return;
	p->ids_read += where->size / 8;
	ids = section(s, where, most, &n);
	c = (struct cursor){ .p = ids, .left = ids ? n : 0 };
	add_ids(p, p->events.n - 1, &c, n / 8);
	free(ids);
}

static bool read_attrs(struct perfdata *p, struct source *s, const struct file_header *h)
{
	size_t n;
	uint8_t *attrs = section(s, &h->attrs, 64u << 20, &n);
	struct cursor c = { .p = attrs, .left = n };
	uint64_t size = h->attr_size;

	if (!attrs || size < PERF_ATTR_SIZE_VER0 + sizeof(struct file_section) || size > 4096) {
		free(attrs);
		return false;
	}
	while (c.left >= size && p->events.n < EVENTS_MAX) {
		struct perfdata_event *e = vec_add(&p->events);
		struct file_section where;

		read_attr(&c, size - sizeof(where), &e->attr);
		memcpy(&where, read_bytes(&c, sizeof(where)), sizeof(where));
		read_ids(p, s, &where);
		if (interrupt_noted())
			break;
	}
	free(attrs);
	return p->events.n;
}

static void read_features(struct perfdata *p, struct source *s, const struct file_header *h)
{
	uint64_t at = h->data.offset + h->data.size;

	for (unsigned id = 0; id < FEATURES; id++) {
		struct file_section where;
		size_t got;
		const uint8_t *entry;
		uint8_t *data;

		if (!(h->features[id / 64] >> id % 64 & 1))
			continue;
		entry = source_at(s, at, sizeof(where), &got);
		if (got < sizeof(where))
			return;
		memcpy(&where, entry, sizeof(where));
		at += sizeof(where);
		if (!is_read(id))
			continue;
		data = section(s, &where, 64u << 20, &got);
		if (data)
			feature(p, id, (struct cursor){ .p = data, .left = got });
		free(data);
	}
}

static int read_header(struct source *s, struct file_header *h, const char *path, struct err *err)
{
	size_t got;
	const uint8_t *at = source_at(s, 0, sizeof(*h), &got);

	memset(h, 0, sizeof(*h));
	if (!perfdata_is(at, got))
		return err_set(err, -EINVAL,
			       "%s is no perf.data; name a file that perf record wrote", path);
	memcpy(h, at, got < sizeof(*h) ? got : sizeof(*h));
	if (h->size != PIPE_HEADER && (h->size < sizeof(*h) || got < sizeof(*h)))
		return err_set(err, -EINVAL,
			       "%s is a perf.data that was cut off in its header, or of a machine "
			       "of another byte order; record again",
			       path);
	return 0;
}

int perfdata_open(struct perfdata *p, struct source *s, const char *path, struct err *err)
{
	struct file_header h;
	int ret = read_header(s, &h, path, err);

	*p = (struct perfdata){ .is_pipe = !ret && h.size == PIPE_HEADER };
	if (ret || p->is_pipe)
		return ret;
	if (!read_attrs(p, s, &h))
		return err_set(err, -EINVAL, "%s is a perf.data that names no events; record again",
			       path);
	if (h.data.size)
		read_features(p, s, &h);
	return 0;
}

/* ---- records ---- */

/* Reads a record that a pipe has instead of the header's sections. */
static void describe(struct perfdata *p, const struct perf_event_header *h)
{
	struct cursor c = { .p = (const uint8_t *)(h + 1), .left = h->size - sizeof(*h) };
	uint64_t head[2] = { 0 };
	uint32_t size;

	if (h->type == PERFDATA_ATTR && c.left >= PERF_ATTR_SIZE_VER0 && p->events.n < EVENTS_MAX) {
		struct perfdata_event *e = vec_add(&p->events);

		memcpy(&size, c.p + 4, sizeof(size)); /* attr.size */
		read_attr(&c, size ? size : PERF_ATTR_SIZE_VER0, &e->attr);
		add_ids(p, p->events.n - 1, &c, IDS_MAX);
	} else if (h->type == PERFDATA_FEATURE && c.left >= 8) {
		memcpy(head, read_bytes(&c, 8), 8);
		feature(p, head[0], c);
	} else if (h->type == PERFDATA_UPDATE && c.left > 16) {
		uint32_t i;

		memcpy(head, read_bytes(&c, 16), 16);
		i = map_get(&p->by_id, head[1]);
		if (head[0] == 2 && i != MAP_NONE) { /* PERF_EVENT_UPDATE__NAME */
			char *name =
				xstrndup((const char *)c.p, strnlen((const char *)c.p, c.left));

			name_event(&p->events.data[i], name);
			free(name);
		}
	}
}

static int give(struct perfdata *p, struct records *r, const struct perf_event_header *h)
{
	if (p->is_pipe && !p->is_described)
		describe(p, h);
	return r->record(r->ctx, h);
}

/*
 * Decompresses a piece of the stream and reads the records that are complete with what was left of
 * the piece before.
 */
static int unpack(struct perfdata *p, struct records *r, const uint8_t *data, size_t n)
{
	size_t at = 0, before = r->rest.n;
	int ret = 0;

	if (!r->unzstd)
		r->unzstd = codec_stream_new();
	if (r->unzstd && !codec_stream_feed(r->unzstd, data, n, UNPACKED_MAX, &r->rest))
		r->unpacked += r->rest.n - before;
	else
		r->unpacked = UINT64_MAX;
	if (r->unpacked > r->unpacked_most) {
		p->cut_off = true;
		return 1;
	}
	while (!ret && r->rest.n - at >= sizeof(struct perf_event_header)) {
		struct perf_event_header h;

		memcpy(&h, r->rest.s + at, sizeof(h));
		if (h.size < sizeof(h)) {
			p->cut_off = true;
			return 1;
		}
		if (h.size > r->rest.n - at)
			break;
		memcpy(r->inner.bytes, r->rest.s + at, h.size);
		ret = give(p, r, (const struct perf_event_header *)r->inner.bytes);
		at += h.size;
	}
	memmove(r->rest.s, r->rest.s + at, r->rest.n - at);
	r->rest.n -= at;
	return ret;
}

/* Returns the size of the tracing data that follow the record; 0: it is another record. */
static uint32_t tracing_bytes(const struct perf_event_header *h)
{
	uint32_t n = 0;

	if (h->type == PERFDATA_TRACING_DATA && h->size >= sizeof(*h) + sizeof(n))
		memcpy(&n, h + 1, sizeof(n));
	return n;
}

/* Bytes that follow a record without being one. */
static uint64_t payload(const struct perf_event_header *h)
{
	const uint8_t *body = (const uint8_t *)(h + 1);
	uint64_t bytes = 0;

	if (h->type == PERFDATA_TRACING_DATA) {
		bytes = ((uint64_t)tracing_bytes(h) + 7) / 8 * 8;
	} else if (h->type == PERFDATA_AUXTRACE && h->size >= sizeof(*h) + 8) {
		memcpy(&bytes, body, 8);
	}
	return bytes;
}

static int one(struct perfdata *p, struct records *r, const struct perf_event_header *h)
{
	const uint8_t *body = (const uint8_t *)(h + 1);
	size_t n = h->size - sizeof(*h);
	uint64_t packed;

	if (h->type == PERFDATA_COMPRESSED)
		return unpack(p, r, body, n);
	if (h->type == PERFDATA_COMPRESSED2 && n >= 8) {
		memcpy(&packed, body, 8);
		return unpack(p, r, body + 8, packed < n - 8 ? packed : n - 8);
	}
	return give(p, r, h);
}

/* Reads the tracing data of a pipe; a file has them in its header. */
static void read_tracing_data(struct perfdata *p, struct source *s, uint64_t at,
			      const struct perf_event_header *h)
{
	uint32_t n = tracing_bytes(h);
	const uint8_t *data;
	size_t got;

	if (!n || n > FORMATS_BYTES_MAX || p->tracing)
		return;
	data = source_at(s, at, n, &got);
	if (got >= n)
		tracing_data(p, data, n);
}

static int walk(struct perfdata *p, struct source *s, uint64_t at, uint64_t end, struct records *r)
{
	struct progress progress;
	int ret = 0;

	progress_init(&progress, "converting the perf.data");
	for (uint64_t n = 0; !ret && at < end; n++) {
		struct perf_event_header h;
		uint64_t more;
		size_t got;
		const uint8_t *data = source_at(s, at, sizeof(h), &got);

		if (n % PROGRESS_RECORDS == 0)
			progress_share(&progress, (double)at / (double)end);

		if (got >= sizeof(h)) {
			memcpy(&h, data, sizeof(h));
			data = source_at(s, at, h.size, &got);
		} else {
			h.size = 0;
		}
		p->cut_off |= h.size < sizeof(h) || got < h.size;
		if (h.size < sizeof(h) || got < h.size)
			break;
		memcpy(r->at.bytes, data, h.size);
		more = payload((const struct perf_event_header *)r->at.bytes);
		p->cut_off |= more > end - at;
		if (more > end - at)
			break;
		read_tracing_data(p, s, at + h.size, (const struct perf_event_header *)r->at.bytes);
		at += h.size + more;
		ret = one(p, r, (const struct perf_event_header *)r->at.bytes);
		if (interrupt_noted())
			p->stopped_at = end = at;
	}
	progress_end(&progress);
	return ret;
}

int perfdata_each(struct perfdata *p, struct source *s,
		  int (*record)(void *ctx, const struct perf_event_header *h), void *ctx,
		  struct err *err)
{
	struct records *r = xcalloc(1, sizeof(*r));
	struct file_header h;
	uint64_t from, end;
	int ret = read_header(s, &h, "the file", err);

	r->record = record;
	r->ctx = ctx;
	r->unpacked_most = UNPACKED_MAX + UNPACKED_RATIO * s->size;
	if (!ret) {
		from = p->is_pipe ? PIPE_HEADER : h.data.offset;
		/*
		 * perf writes the size at its end; if it was killed, everything up to the end of
		 * the file counts
		 */
		end = p->is_pipe || !h.data.size || h.data.size > s->size ? s->size
									  : from + h.data.size;
		p->cut_off |= !p->is_pipe && !h.data.size;
		if (p->stopped_at)
			end = p->stopped_at;
		s->read_ahead = SOURCE_WALK;
		ret = walk(p, s, from, end < s->size ? end : s->size, r);
		s->read_ahead = SOURCE_LOOK;
		p->is_described = true;
	}
	codec_stream_free(r->unzstd);
	text_release(&r->rest);
	free(r);
	return ret < 0 ? ret : 0;
}

void perfdata_release(struct perfdata *p)
{
	vec_for_each (&p->events, struct perfdata_event, e)
		free(e->name);
	vec_release(&p->events);
	map_release(&p->by_id);
	free(p->command);
	free(p->hostname);
	free(p->kernel);
	free(p->machine);
	free(p->tracing);
	*p = (struct perfdata){ 0 };
}
