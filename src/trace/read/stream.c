// SPDX-License-Identifier: GPL-3.0-or-later
#include "trace/read/stream.h"

#include <stdlib.h>
#include <string.h>

#include "base/likely.h"
#include "base/mem.h"
#include "trace/frame/codec.h"
#include "trace/frame/index.h"
#include "trace/frame/source.h"
#include "trace/varint.h"

/*
 * Zero bytes behind a body. A record has at most four varints before a check of the end, each of
 * which ends at the latest VARINT_MAX bytes into the zeros: so decoding needs no check per byte.
 */
#define SLACK 64

#define HEAD_LOST ((uint64_t)REC_LOST << 2 | 3)

#define FRAME_MAX (CHUNK_BODY_MAX + (1u << 20))

static const uint64_t no_values[RECORD_VALUES_MAX];

/* ---- varints, unchecked: the caller compares with the end afterwards ---- */

/* Reads a varint of nine or ten bytes. A longer one is malformed, and its value does not matter. */
static __attribute__((noinline, cold)) const uint8_t *get_long(const uint8_t *p, uint64_t *value)
{
	const uint8_t *end = varint_get(p, p + VARINT_MAX, value);

	if (end)
		return end;
	*value = 0;
	return p + VARINT_MAX;
}

/*
 * Reads a varint of three bytes or more, eight bytes at once, as the length of a long time delta is
 * unpredictable.
 */
static inline const uint8_t *get_wide(const uint8_t *p, uint64_t *value)
{
	uint64_t w, stop, rare;

	memcpy(&w, p, 8);
	stop = ~w & 0x8080808080808080u;
	if (unlikely(!stop)) {
		p = get_long(p, &rare); /* the others stay in registers */
		*value = rare;
		return p;
	}
	p += (__builtin_ctzll(stop) >> 3) + 1;
	w &= (stop ^ (stop - 1)) & 0x7f7f7f7f7f7f7f7fu;
	w = (w & 0x007f007f007f007fu) | (w & 0x7f007f007f007f00u) >> 1;
	w = (w & 0x00003fff00003fffu) | (w & 0x3fff00003fff0000u) >> 2;
	*value = (w & 0x0fffffffu) | (w & 0x0fffffff00000000u) >> 4;
	return p;
}

static inline const uint8_t *get(const uint8_t *p, uint64_t *value)
{
	if (likely(*p < 0x80)) {
		*value = *p;
		return p + 1;
	}
	if (likely(p[1] < 0x80)) {
		*value = (*p & 0x7fu) | (uint64_t)p[1] << 7;
		return p + 2;
	}
	return get_wide(p, value);
}

/* The same without a branch between one byte and two, which would be unpredictable here. */
static inline const uint8_t *get_head(const uint8_t *p, uint64_t *value)
{
	uint64_t two = p[0] >> 7;

	if (unlikely(p[0] & p[1] & 0x80))
		return get_wide(p, value);
	*value = (p[0] & 0x7fu) | (p[1] & -two) << 7;
	return p + 1 + two;
}

/* ---- chunks ---- */

/* Sets when the next record or chunk is due; no decoded calls are left. */
static void set_due(struct stream *s, uint64_t time_ns)
{
	s->next_call = s->calls_end = s->calls;
	s->calls[0].time_ns = time_ns;
}

/*
 * Goes on to the next chunk. It may begin with a loss that began before its time, so it is opened
 * at once.
 */
static enum stream_state to_next_chunk(struct stream *s)
{
	uint64_t *time_ns = &s->cursor.time_ns;

	s->is_open = false;
	s->cursor.lead_ns = 0;
	if (s->next == s->last)
		return STREAM_END;
	if (s->next->header.time_first_ns < *time_ns)
		*time_ns = s->next->header.time_first_ns;
	set_due(s, *time_ns);
	return STREAM_CHUNK;
}

/* Notes that count records of the open chunk are missing. The REC_LOST for them is read next. */
static void lose(struct stream *s, uint64_t count, uint64_t since_ns, struct stream_damage *damage)
{
	struct stream_cursor *c = &s->cursor;

	damage->chunks++;
	damage->records += count;
	s->loss.pending = true;
	s->loss.count = count;
	s->loss.since_ns = since_ns;
	c->tid = c->tgid = 0;
	c->time_ns = since_ns;
	c->lead_ns = 0;
	if (s->next[-1].header.time_last_ns > since_ns)
		c->lead_ns = s->next[-1].header.time_last_ns - since_ns;
	set_due(s, since_ns);
}

static enum stream_state read_loss(struct stream *s, struct batch *batch)
{
	uint64_t *values = &batch->values[batch->n_values];

	values[0] = s->loss.count;
	values[1] = s->loss.since_ns;
	values[2] = values[3] = 0;
	batch->n_values += RECORD_VALUES_MIN;
	batch->records[batch->n++] = (struct record){
		.time_ns = s->cursor.time_ns + s->cursor.lead_ns,
		.kind = REC_LOST,
		.cpu = s->like.cpu,
		.n_values = 2,
		.values = values,
	};
	s->loss.pending = false;
	return to_next_chunk(s);
}

static bool decompress(struct stream *s, const struct chunk_ref *ref, struct source *source,
		       struct decompressor *d)
{
	size_t want = sizeof(ref->header) + ref->header.body_bytes, got;
	const uint8_t *frame;

	if (ref->bytes == 0 || ref->bytes > FRAME_MAX)
		return false;
	if (s->room < want + SLACK) {
		free(s->body);
		s->room = want + want / 8 + SLACK;
		s->body = xmalloc(s->room);
	}
	frame = source_at(source, ref->offset, ref->bytes, &got);
	if (got < ref->bytes || codec_decompress(d, frame, ref->bytes, &ref->header, s->body, want))
		return false;
	memset(s->body + want, 0, SLACK);
	s->cursor.p = s->body + sizeof(ref->header);
	s->cursor.end = s->body + want;
	return true;
}

/*
 * A loss is returned at the time it begins, as it concerns other CPUs' records from then on.
 * Returns how much earlier that is than the record's own time. p is at the payload's length.
 */
static __attribute__((noinline, cold)) uint64_t lead_of(const uint8_t *p, const uint8_t *end,
							uint64_t before_ns, uint64_t time_ns)
{
	uint64_t n, count, since_ns;

	p = varint_get(p, end, &n);
	if (p && n <= (uint64_t)(end - p))
		end = p + n;
	p = p ? varint_get(p, end, &count) : NULL;
	if (!p || !varint_get(p, end, &since_ns))
		return 0;
	if (since_ns < before_ns)
		since_ns = before_ns;
	return since_ns < time_ns ? time_ns - since_ns : 0;
}

/* Reads the head and time of the first record. Returns false if there is no whole record. */
static bool begin_chunk(struct stream_cursor *c, uint64_t before_ns)
{
	const uint8_t *p = c->p;
	uint64_t tgid, delta;

	if (p >= c->end)
		return false;
	p = get(p, &c->head);
	while ((c->head & 3) == REC_THREAD) {
		p = get(p, &tgid);
		if (p >= c->end)
			return false;
		c->tid = (uint32_t)(c->head >> 2);
		c->tgid = (uint32_t)tgid;
		p = get(p, &c->head);
	}
	p = get(p, &delta);
	c->time_ns += (uint64_t)unzigzag(delta);
	c->p = p;
	if (p > c->end)
		return false;
	if (c->head == HEAD_LOST)
		c->lead_ns = lead_of(p, c->end, before_ns, c->time_ns);
	c->time_ns -= c->lead_ns;
	return true;
}

void stream_init(struct stream *s, const struct chunk_ref *first, const struct chunk_ref *last)
{
	*s = (struct stream){ .first = first, .last = last };
	s->like = (struct record){ .cpu = first->header.cpu, .values = no_values };
	stream_rewind(s);
}

void stream_rewind(struct stream *s)
{
	s->next = s->first;
	s->loss.pending = false;
	s->cursor.time_ns = 0;
	to_next_chunk(s);
}

void stream_release(struct stream *s)
{
	free(s->body);
	s->body = NULL;
	s->room = 0;
}

/* ---- records ---- */

/* Clears the bits of a mask whose values are missing. */
static uint64_t trim_mask(uint64_t mask, uint32_t n_values)
{
	uint64_t kept = 0;

	for (uint32_t i = 0; i < n_values && mask; i++) {
		kept |= mask & -mask;
		mask &= mask - 1;
	}
	return kept;
}

/* Copies the bytes from p to end into the batch; p NULL: the record has none. */
static void read_bytes(const uint8_t *p, const uint8_t *end, struct record *r, struct batch *batch)
{
	size_t n = p ? (size_t)(end - p) : 0;

	r->n_bytes = (uint32_t)(n < RECORD_BYTES_MAX ? n : RECORD_BYTES_MAX);
	r->bytes = &batch->bytes[batch->n_bytes];
	memcpy(&batch->bytes[batch->n_bytes], p ? p : end, r->n_bytes);
	batch->n_bytes += r->n_bytes;
}

static void read_values(const struct record_shape *shape, const uint8_t *p, const uint8_t *end,
			struct record *r, struct batch *batch)
{
	uint64_t *values = &batch->values[batch->n_values];
	uint32_t n = 0;

	while (!shape->has_bytes && n < RECORD_VALUES_MAX && p) {
		p = varint_get(p, end, &values[n]);
		n += p != NULL;
	}
	if (shape->zigzag && n)
		values[0] = (uint64_t)unzigzag(values[0]);
	if (shape->masked && n)
		values[0] = trim_mask(values[0], n - 1);
	for (uint32_t i = n; i < RECORD_VALUES_MIN; i++)
		values[i] = 0;
	r->values = values;
	r->n_values = n;
	batch->n_values += n < RECORD_VALUES_MIN ? RECORD_VALUES_MIN : n;
	if (shape->has_bytes)
		read_bytes(p, end, r, batch);
}

/*
 * Returns the byte behind the record, or NULL if it is malformed. Does not set r->kind if the kind
 * is unknown.
 */
static __attribute__((noinline)) const uint8_t *read_extended(const uint8_t *p, const uint8_t *end,
							      uint64_t kind, struct record *r,
							      struct batch *batch)
{
	const struct record_shape *shape = kind <= UINT32_MAX ? record_shape((uint32_t)kind) : NULL;
	uint64_t n;

	p = get(p, &n);
	if (p > end || n > (uint64_t)(end - p))
		return NULL;
	if (shape) {
		r->kind = (uint32_t)kind;
		read_values(shape, p, p + n, r, batch);
	}
	return p + n;
}

/* Skips REC_THREAD records up to the next record's head. */
static inline __attribute__((always_inline)) const uint8_t *next_head(struct stream_cursor *c,
								      const uint8_t *p)
{
	uint64_t head, tgid;

	p = get_head(p, &head);
	while (unlikely((head & 3) == REC_THREAD)) {
		c->tid = (uint32_t)(head >> 2);
		p = get(p, &tgid);
		c->tgid = (uint32_t)tgid;
		if (p >= c->end)
			break;
		p = get(p, &head);
	}
	c->head = head;
	return p;
}

/*
 * Moves the cursor to the next record. p is behind the current one, or NULL if that was malformed.
 * Inlined, so that the caller's cursor stays in registers.
 */
static inline __attribute__((always_inline)) void advance(struct stream_cursor *c, const uint8_t *p)
{
	uint64_t v, before_ns = c->time_ns;

	c->at = STREAM_MALFORMED;
	if (unlikely(!p || p >= c->end)) {
		if (p == c->end) {
			c->at = STREAM_USED_UP;
			c->left--;
		}
		return;
	}
	c->left--;
	p = next_head(c, p);
	p = get(p, &v);
	if (unlikely(p > c->end))
		return;
	c->at = STREAM_RECORD;
	c->p = p;
	c->time_ns += (uint64_t)unzigzag(v);
	if (unlikely(c->head == HEAD_LOST)) {
		c->lead_ns = lead_of(p, c->end, before_ns, c->time_ns);
		c->time_ns -= c->lead_ns;
	}
}

/* The hot loop: everything of the stream that changes is in locals. */
static void decode_calls(struct stream *s)
{
	struct stream_cursor c = s->cursor;
	struct stream_call *call = s->calls;
	uint32_t tid = c.tid, tgid = c.tgid;

	s->like.tid = tid;
	s->like.tgid = tgid;
	while (call < s->calls + STREAM_CALLS && c.at == STREAM_RECORD &&
	       (c.head & 3) <= REC_EXIT && c.tid == tid && c.tgid == tgid) {
		const uint8_t *p;
		uint64_t v;

		p = get(c.p, &v);
		c.sp_words += (uint64_t)unzigzag(v);
		*call = (struct stream_call){ c.time_ns, c.sp_words << 3, c.head };
		call += p <= c.end; /* or its stack pointer is cut off */
		advance(&c, p);
	}
	call->time_ns = c.time_ns;
	s->next_call = s->calls;
	s->calls_end = call;
	s->cursor = c;
}

static void read_other(struct stream *s, struct batch *batch)
{
	struct stream_cursor *c = &s->cursor;
	struct record *r = &batch->records[batch->n];
	const uint8_t *p;

	c->time_ns += c->lead_ns;
	c->lead_ns = 0;
	*r = (struct record){ .time_ns = c->time_ns,
			      .kind = 3,
			      .cpu = s->like.cpu,
			      .tid = c->tid,
			      .tgid = c->tgid,
			      .values = no_values };
	p = read_extended(c->p, c->end, c->head >> 2, r, batch);
	batch->n += r->kind != 3;
	advance(c, p);
}

static enum stream_state finish_chunk(struct stream *s, struct stream_damage *damage)
{
	const struct stream_cursor *c = &s->cursor;

	if (c->left <= 0 && c->at == STREAM_USED_UP)
		return to_next_chunk(s);
	lose(s, c->left > 0 ? (uint64_t)c->left : 0, c->time_ns, damage);
	return STREAM_MORE;
}

enum stream_state stream_read(struct stream *s, struct batch *batch, struct stream_damage *damage)
{
	if (s->loss.pending)
		return read_loss(s, batch);
	if (s->cursor.at != STREAM_RECORD)
		return finish_chunk(s, damage);
	if ((s->cursor.head & 3) > REC_EXIT)
		read_other(s, batch);
	decode_calls(s);
	return STREAM_MORE;
}

enum stream_state stream_open_chunk(struct stream *s, struct source *source, struct decompressor *d,
				    struct stream_damage *damage)
{
	const struct chunk_ref *ref = s->next++;
	uint32_t n = ref->header.n_records;
	uint64_t before_ns = s->cursor.time_ns;

	s->is_open = true;
	s->cursor = (struct stream_cursor){ .time_ns = ref->header.time_first_ns, .left = n };
	if (!decompress(s, ref, source, d) || (n && !begin_chunk(&s->cursor, before_ns)))
		lose(s, n, ref->header.time_first_ns, damage);
	else if (n == 0)
		return to_next_chunk(s);
	else
		decode_calls(s);
	return STREAM_MORE;
}
