// SPDX-License-Identifier: GPL-3.0-or-later
#include "trace/read/reader.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "trace/frame/codec.h"
#include "trace/frame/index.h"
#include "trace/frame/source.h"
#include "trace/merge.h"
#include "trace/meta/meta.h"
#include "trace/read/readahead.h"
#include "trace/read/stream.h"

struct trace_reader {
	struct source source;
	bool is_written;
	struct decompressor *d;
	/* Events may be read in another thread, which needs its own view of the file. */
	struct source event_source;
	struct decompressor *event_d;
	struct readahead *readahead; /* NULL: the caller's thread reads the events */
	bool asked;		     /* since the last rewind */
	struct index index;
	struct meta meta;
	struct stream *streams; /* of CHUNK_EVENTS, by CPU; behind them those of CHUNK_LATE */
	uint32_t n_streams, n_events;
	struct merge events, late; /* late records are few: most are merged without them */
	uint64_t first_ns, last_ns, n_records;
	uint64_t bytes_all; /* of event frames */
	uint32_t bad_metas;
	struct text damage_text;
	struct {
		uint64_t frame_bytes;
		struct stream_damage damage;
	} read;	     /* set by the thread that fills batches */
	uint32_t at; /* next record of the batch for trace_reader_next() */
	struct batch *batch, own;
};

/* Smaller files are read faster than a thread starts. */
#define AHEAD_MIN_BYTES (256u << 10)

/* ---- meta ---- */

static void each_line(const char *s, size_t n, void (*line)(void *, const char *, size_t),
		      void *user)
{
	while (n) {
		const char *newline = memchr(s, '\n', n);
		size_t length = newline ? (size_t)(newline - s) : n;

		if (length)
			line(user, s, length);
		length += newline != NULL;
		s += length;
		n -= length;
	}
}

/* Returns the chunk's body, which is freed with *chunk, or NULL if it is damaged. */
static const char *meta_body(struct trace_reader *r, const struct chunk_ref *ref, void **chunk)
{
	size_t room = sizeof(ref->header) + ref->header.body_bytes, got;
	const uint8_t *frame;

	*chunk = NULL;
	if (ref->bytes == 0 || ref->bytes > 2 * (uint64_t)CHUNK_BODY_MAX)
		return NULL;
	frame = source_at(&r->source, ref->offset, ref->bytes, &got);
	if (got < ref->bytes)
		return NULL;
	*chunk = xmalloc(room);
	if (codec_decompress(r->d, frame, ref->bytes, &ref->header, *chunk, room)) {
		free(*chunk);
		*chunk = NULL;
		return NULL;
	}
	return (const char *)*chunk + sizeof(ref->header);
}

static uint32_t each_meta_line(struct trace_reader *r, void (*line)(void *, const char *, size_t),
			       void *user)
{
	uint32_t bad = 0;

	vec_for_each (&r->index.metas, struct chunk_ref, ref) {
		void *chunk;
		const char *body = meta_body(r, ref, &chunk);

		if (body)
			each_line(body, ref->header.body_bytes, line, user);
		else
			bad++;
		free(chunk);
	}
	return bad;
}

static void read_meta_line(void *meta, const char *line, size_t n)
{
	meta_read_line(meta, line, n); /* counts the lines that it cannot read */
}

void trace_reader_each_meta_line(struct trace_reader *r,
				 void (*line)(void *user, const char *s, size_t n), void *user)
{
	each_meta_line(r, line, user);
}

const struct meta *trace_reader_meta(const struct trace_reader *r)
{
	return &r->meta;
}

/* ---- streams ---- */

static void note_range(struct trace_reader *r, const struct chunk_header *h)
{
	if (h->n_records == 0)
		return;
	if (r->n_records == 0 || h->time_first_ns < r->first_ns)
		r->first_ns = h->time_first_ns;
	if (h->time_last_ns > r->last_ns)
		r->last_ns = h->time_last_ns;
	r->n_records += h->n_records;
}

/* Whether two chunks belong to one stream. */
static bool same_stream(const struct chunk_ref *a, const struct chunk_ref *b)
{
	return a->header.cpu == b->header.cpu && a->header.kind == b->header.kind;
}

static void make_streams(struct trace_reader *r)
{
	const struct chunk_ref *refs = r->index.events.data;
	size_t n = r->index.events.n;

	for (size_t i = 0; i < n; i++) {
		r->n_streams += i == 0 || !same_stream(&refs[i], &refs[i - 1]);
		r->bytes_all += refs[i].bytes;
		note_range(r, &refs[i].header);
	}
	r->streams = xcalloc(r->n_streams + 1, sizeof(*r->streams));
	for (size_t i = 0, k = 0; i < n; k++) {
		const struct chunk_ref *first = &refs[i];

		while (i < n && same_stream(&refs[i], first))
			i++;
		stream_init(&r->streams[k], first, refs + i);
		r->n_events += first->header.kind == CHUNK_EVENTS;
	}
	merge_init(&r->events, r->n_events);
	merge_init(&r->late, r->n_streams - r->n_events);
}

/*
 * The key of a stream is the address of its next call, so that the next time can be read without
 * loading the stream first: the merge waits for that time.
 */
static const struct stream_call *call_of(struct merge_key key)
{
	return (const struct stream_call *)(uintptr_t)key.who;
}

static size_t stream_of(const struct stream *streams, const struct stream_call *call)
{
	return ((uintptr_t)call - (uintptr_t)streams) / sizeof(*streams);
}

static struct merge_key set_next(struct merge *m, size_t i, const struct stream_call *call)
{
	return merge_set(m, i, call->time_ns, (uintptr_t)call);
}

static void begin(struct merge *m, struct stream *streams, uint32_t n)
{
	merge_clear(m);
	for (uint32_t i = 0; i < n; i++) {
		stream_rewind(&streams[i]);
		set_next(m, i, streams[i].next_call);
	}
}

void trace_reader_rewind(struct trace_reader *r)
{
	readahead_free(r->readahead);
	r->readahead = NULL;
	r->asked = false;
	begin(&r->events, r->streams, r->n_events);
	begin(&r->late, r->streams + r->n_events, r->n_streams - r->n_events);
	memset(&r->read, 0, sizeof(r->read));
	r->batch = &r->own;
	r->own.n = r->at = 0;
	r->own.frame_bytes = 0;
	r->own.damage = r->read.damage;
}

/* ---- records ---- */

static enum stream_state step(struct trace_reader *r, struct stream *s, struct batch *b)
{
	if (s->is_open)
		return stream_read(s, b, &r->read.damage);
	r->read.frame_bytes += s->next->bytes;
	return stream_open_chunk(s, &r->event_source, r->event_d, &r->read.damage);
}

/*
 * Takes calls from the earliest stream, as long as it has a decoded call that is due before
 * limit_ns. Values that do not change are in locals.
 */
static void read_calls(struct merge *merge, struct stream *const streams, uint64_t limit_ns,
		       struct batch *b)
{
	struct merge m = *merge;
	struct merge_key first = merge_first(&m);
	struct record *record = b->records + b->n, *end = b->records + BATCH_RECORDS;

	while (record < end && first.time_ns < limit_ns) {
		const struct stream_call *call = call_of(first);
		size_t i = stream_of(streams, call);

		if (call >= streams[i].calls_end)
			break;
		first = set_next(&m, i, call + 1);
		stream_take_call(&streams[i], call, record++);
	}
	b->n = (uint32_t)(record - b->records);
}

/* Reads the earliest stream: takes calls due before limit_ns, or does one step of another kind. */
static void read_stream(struct trace_reader *r, struct merge *m, struct stream *streams,
			uint64_t limit_ns, struct batch *b)
{
	size_t i = stream_of(streams, call_of(merge_first(m)));
	struct stream *s = &streams[i];

	if (stream_has_call(s) && stream_due_ns(s) < limit_ns) {
		read_calls(m, streams, limit_ns, b);
		return;
	}
	if (stream_has_call(s))
		stream_take_call(s, s->next_call, &b->records[b->n++]);
	else if (step(r, s, b) == STREAM_END)
		return merge_end(m, i);
	set_next(m, i, s->next_call);
}

static void fill_batch(void *reader, struct batch *b)
{
	struct trace_reader *r = reader;
	struct merge *events = &r->events, *late = &r->late;

	b->n = b->n_values = b->n_bytes = 0;
	while (!batch_is_full(b)) {
		uint64_t events_ns = merge_first(events).time_ns;
		uint64_t late_ns = merge_first(late).time_ns;

		if (!merge_is_empty(events) && (merge_is_empty(late) || events_ns <= late_ns))
			read_stream(r, events, r->streams, late_ns, b);
		else if (!merge_is_empty(late))
			read_stream(r, late, r->streams + r->n_events, events_ns, b);
		else
			break;
	}
	b->frame_bytes = r->read.frame_bytes;
	b->damage = r->read.damage;
}

static void next_batch(struct trace_reader *r)
{
	if (!r->asked && r->bytes_all >= AHEAD_MIN_BYTES)
		r->readahead = readahead_new(fill_batch, r);
	r->asked = true;
	if (r->readahead)
		r->batch = readahead_next(r->readahead);
	else
		fill_batch(r, r->batch);
	r->at = 0;
}

size_t trace_reader_batch(struct trace_reader *r, const struct record **records)
{
	if (r->at == r->batch->n)
		next_batch(r);
	*records = &r->batch->records[r->at];
	r->at = r->batch->n;
	return (size_t)(&r->batch->records[r->at] - *records);
}

int trace_reader_next(struct trace_reader *r, struct record *rec)
{
	if (r->at == r->batch->n) {
		next_batch(r);
		if (r->batch->n == 0)
			return 0;
	}
	*rec = r->batch->records[r->at++];
	return 1;
}

double trace_reader_position(const struct trace_reader *r)
{
	return r->bytes_all ? (double)r->batch->frame_bytes / (double)r->bytes_all : 1;
}

uint64_t trace_reader_first_ns(const struct trace_reader *r)
{
	return r->first_ns;
}

uint64_t trace_reader_last_ns(const struct trace_reader *r)
{
	return r->last_ns;
}

uint64_t trace_reader_records(const struct trace_reader *r)
{
	return r->n_records;
}

/* ---- damage ---- */

static void add_clause(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void add_clause(struct text *t, const char *fmt, ...)
{
	char *clause;
	va_list args;

	va_start(args, fmt);
	if (vasprintf(&clause, fmt, args) < 0)
		clause = NULL;
	va_end(args);
	if (t->n)
		text_add(t, "; ");
	text_add(t, clause ? clause : "");
	free(clause);
}

static void report_end(const struct trace_reader *r, struct text *t)
{
	uint64_t start = r->meta.session.start_ns ? r->meta.session.start_ns : r->first_ns;
	char length[TEXT_NUMBER];

	if (r->is_written)
		add_clause(t, "still being recorded: these are the first %s of it",
			   text_time(length, r->last_ns > start ? r->last_ns - start : 0));
	else if (r->last_ns > start)
		add_clause(t, "cut off after %s (recorder killed?)",
			   text_time(length, r->last_ns - start));
	else
		add_clause(t, "cut off at its start (recorder killed?)");
}

/* what is singular: "3 × damaged chunk". */
static void report_count(struct text *t, uint64_t n, const char *what)
{
	if (n > 1)
		add_clause(t, "%" PRIu64 " × %s", n, what);
	else if (n)
		add_clause(t, "1 %s", what);
}

const char *trace_reader_damage(struct trace_reader *r)
{
	const struct stream_damage *damage = &r->batch->damage;
	struct text *t = &r->damage_text;

	t->n = 0;
	if (r->index.cut_off || (!r->index.has_table && !r->meta.end.present))
		report_end(r, t);
	if (r->index.other_version)
		add_clause(t, "chunks of format version %" PRIu32 " left out",
			   r->index.other_version);
	report_count(t, damage->chunks, "damaged chunk");
	if (damage->chunks)
		text_printf(t, " with %" PRIu64 " records", damage->records);
	report_count(t, r->bad_metas, "damaged chunk of descriptions (names may be missing)");
	report_count(t, r->index.bad_chunks, "frame that is no chunk of a trace");
	if (r->index.skipped_bytes)
		add_clause(t, "%" PRIu64 " bytes that are no frame", r->index.skipped_bytes);
	return t->n ? t->s : NULL;
}

/* ---- open, free ---- */

static int open_source(struct trace_reader *r, const char *path, struct err *err)
{
	int ret;

	r->is_written = source_is_written(&r->source);
	ret = index_build(&r->index, &r->source, r->d, path, err);
	if (ret)
		return ret;
	meta_init(&r->meta);
	r->bad_metas = each_meta_line(r, read_meta_line, &r->meta);
	meta_finish(&r->meta);
	make_streams(r);
	source_share(&r->event_source, &r->source);
	trace_reader_rewind(r);
	return 0;
}

static struct trace_reader *new_reader(void)
{
	struct trace_reader *r = xcalloc(1, sizeof(*r));

	r->source.fd = r->event_source.fd = -1;
	r->d = decompressor_new();
	r->event_d = decompressor_new();
	if (!r->d || !r->event_d)
		xrealloc(NULL, SIZE_MAX); /* ends the program as any exhausted memory does */
	return r;
}

static int finish_open(struct trace_reader **result, struct trace_reader *r, const char *path,
		       struct err *err)
{
	int ret = open_source(r, path, err);

	if (ret) {
		trace_reader_free(r);
		return ret;
	}
	*result = r;
	return 0;
}

int trace_reader_open_source(struct trace_reader **result, struct source *source, const char *name,
			     struct err *err)
{
	struct trace_reader *r = new_reader();

	r->source = *source;
	return finish_open(result, r, strcmp(name, "-") ? name : "standard input", err);
}

int trace_reader_open(struct trace_reader **result, const char *path, struct err *err)
{
	struct source source;
	int ret = source_open(&source, path, err);

	return ret ? ret : trace_reader_open_source(result, &source, path, err);
}

int trace_reader_open_memory(struct trace_reader **result, const void *data, size_t n,
			     struct err *err)
{
	struct trace_reader *r = new_reader();

	source_open_memory(&r->source, data, n);
	return finish_open(result, r, "the trace", err);
}

void trace_reader_free(struct trace_reader *r)
{
	if (!r)
		return;
	readahead_free(r->readahead);
	for (uint32_t i = 0; i < r->n_streams; i++)
		stream_release(&r->streams[i]);
	free(r->streams);
	merge_release(&r->events);
	merge_release(&r->late);
	meta_release(&r->meta);
	index_release(&r->index);
	source_release(&r->event_source);
	source_release(&r->source);
	decompressor_free(r->d);
	decompressor_free(r->event_d);
	text_release(&r->damage_text);
	free(r);
}
