// SPDX-License-Identifier: GPL-3.0-or-later
#include "trace/stream.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "trace/codec.h"
#include "trace/index.h"
#include "trace/source.h"
#include "trace/varint.h"

/*
 * Zero bytes behind a body. A record has at most four varints before a check of the end, each of
 * which ends at the latest VARINT_MAX bytes into the zeros: so decoding needs no check per byte.
 */
#define SLACK 64

#define FRAME_MAX (CHUNK_BODY_MAX + (1u << 20))

static const uint64_t no_values[RECORD_VALUES_MAX];

/* ---- varints, unchecked: the caller compares with the end afterwards ---- */

/* Nine or ten bytes; one that is longer is nonsense whatever is made of it. */
static __attribute__((noinline, cold)) const uint8_t *get_long(const uint8_t *p, uint64_t *value)
{
	const uint8_t *end = varint_get(p, p + VARINT_MAX, value);

	if (end)
		return end;
	*value = 0;
	return p + VARINT_MAX;
}

static inline const uint8_t *get(const uint8_t *p, uint64_t *value)
{
	uint64_t w, stop;

	if (__builtin_expect(*p < 0x80, 1)) {
		*value = *p;
		return p + 1;
	}
	/* Eight bytes at once: lengths of time deltas cannot be predicted. */
	memcpy(&w, p, 8);
	stop = ~w & 0x8080808080808080u;
	if (__builtin_expect(!stop, 0))
		return get_long(p, value);
	p += (__builtin_ctzll(stop) >> 3) + 1;
	w &= (stop ^ (stop - 1)) & 0x7f7f7f7f7f7f7f7fu;
	w = (w & 0x007f007f007f007fu) | (w & 0x7f007f007f007f00u) >> 1;
	w = (w & 0x00003fff00003fffu) | (w & 0x3fff00003fff0000u) >> 2;
	*value = (w & 0x0fffffffu) | (w & 0x0fffffff00000000u) >> 4;
	return p;
}

/* ---- chunks ---- */

static enum stream_state to_next_chunk(struct stream *s)
{
	s->is_open = false;
	if (s->next == s->last)
		return STREAM_END;
	s->time_ns = s->next->header.time_first_ns;
	return STREAM_CHUNK;
}

/* count records of the open chunk will not come; the next thing to read is the REC_LOST. */
static void lose(struct stream *s, uint64_t count, uint64_t since_ns, struct stream_damage *damage)
{
	damage->chunks++;
	damage->records += count;
	s->loss.pending = true;
	s->loss.values[0] = count;
	s->loss.values[1] = since_ns;
	s->tid = s->tgid = 0;
	s->time_ns = s->next[-1].header.time_last_ns;
	if (s->time_ns < since_ns)
		s->time_ns = since_ns;
}

static enum stream_state read_loss(struct stream *s, struct batch *batch)
{
	batch->records[batch->n++] = (struct record){
		.time_ns = s->time_ns,
		.kind = REC_LOST,
		.cpu = s->cpu,
		.n_values = 2,
		.values = s->loss.values,
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
	s->p = s->body + sizeof(ref->header);
	s->end = s->body + want;
	return true;
}

/* To the head and time of the next record. False: nothing, or nothing whole, is there. */
static bool begin_chunk(struct stream *s)
{
	const uint8_t *p = s->p;
	uint64_t tgid, delta;

	if (p >= s->end)
		return false;
	p = get(p, &s->head);
	while ((s->head & 3) == REC_THREAD) {
		p = get(p, &tgid);
		if (p >= s->end)
			return false;
		s->tid = (uint32_t)(s->head >> 2);
		s->tgid = (uint32_t)tgid;
		p = get(p, &s->head);
	}
	p = get(p, &delta);
	s->time_ns += (uint64_t)unzigzag(delta);
	s->p = p;
	return p <= s->end;
}

enum stream_state stream_open_chunk(struct stream *s, struct source *source, struct decompressor *d,
				    struct stream_damage *damage)
{
	const struct chunk_ref *ref = s->next++;
	uint32_t n = ref->header.n_records;

	s->is_open = true;
	s->time_ns = ref->header.time_first_ns;
	s->sp_words = 0;
	s->tid = s->tgid = 0;
	s->left = n;
	if (!decompress(s, ref, source, d) || (n && !begin_chunk(s)))
		lose(s, n, ref->header.time_first_ns, damage);
	else if (n == 0)
		return to_next_chunk(s);
	return STREAM_MORE;
}

/* The decoder has come to the end of the open chunk, or to something that is no record. */
static enum stream_state finish_chunk(struct stream *s, int64_t left, uint64_t time_ns,
				      bool is_malformed, struct stream_damage *damage)
{
	if (left <= 0 && !is_malformed)
		return to_next_chunk(s);
	lose(s, left > 0 ? (uint64_t)left : 0, time_ns, damage);
	return STREAM_MORE;
}

void stream_rewind(struct stream *s)
{
	s->next = s->first;
	s->loss.pending = false;
	to_next_chunk(s);
}

void stream_release(struct stream *s)
{
	free(s->body);
	s->body = NULL;
	s->room = 0;
}

/* ---- records ---- */

/* A mask says nothing about values that are not there. */
static uint64_t trim_mask(uint64_t mask, uint32_t n_values)
{
	uint64_t kept = 0;

	for (uint32_t i = 0; i < n_values && mask; i++) {
		kept |= mask & -mask;
		mask &= mask - 1;
	}
	return kept;
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
	if (shape->has_bytes) {
		r->bytes = (const char *)p;
		r->n_bytes = (uint32_t)(end - p);
	}
}

/* The byte behind the record, or NULL: malformed. r->kind is left alone if the kind is unknown. */
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

/*
 * The hot loop: everything of the stream that changes is in locals. Known before each turn: the
 * record's head and time; its other fields follow at p.
 */
enum stream_state stream_read(struct stream *s, uint64_t limit_ns, struct batch *batch,
			      struct stream_damage *damage)
{
	const uint8_t *p = s->p, *end = s->end;
	uint64_t head = s->head, time_ns = s->time_ns, sp_words = s->sp_words, v;
	uint32_t tid = s->tid, tgid = s->tgid, cpu = s->cpu, n = batch->n, room = BATCH_RECORDS;
	int64_t left = s->left;

	if (s->loss.pending)
		return read_loss(s, batch);
	while (time_ns <= limit_ns && n < room) {
		struct record *r = &batch->records[n];

		*r = (struct record){ .time_ns = time_ns,
				      .kind = head & 3,
				      .cpu = cpu,
				      .tid = tid,
				      .tgid = tgid,
				      .id = (uint32_t)(head >> 2),
				      .values = no_values };
		if (__builtin_expect(r->kind <= REC_EXIT, 1)) {
			p = get(p, &v);
			sp_words += (uint64_t)unzigzag(v);
			r->sp = sp_words << 3;
			n++;
		} else {
			r->id = 0;
			p = read_extended(p, end, head >> 2, r, batch);
			n += r->kind != 3;
			if (batch->n_values > BATCH_VALUES)
				room = n;
		}
		if (__builtin_expect(!p || p >= end, 0)) {
			bool is_malformed = p != end;

			batch->n = n - (is_malformed &&
					p); /* p: a call whose stack pointer is cut off */
			return finish_chunk(s, left - !is_malformed, time_ns, is_malformed, damage);
		}
		left--;
		p = get(p, &head);
		while (__builtin_expect((head & 3) == REC_THREAD, 0)) {
			tid = (uint32_t)(head >> 2);
			p = get(p, &v);
			tgid = (uint32_t)v;
			if (p >= end)
				break;
			p = get(p, &head);
		}
		p = get(p, &v);
		if (__builtin_expect(p > end, 0)) {
			batch->n = n;
			return finish_chunk(s, left, time_ns, true, damage);
		}
		time_ns += (uint64_t)unzigzag(v);
	}
	s->p = p;
	s->head = head;
	s->time_ns = time_ns;
	s->sp_words = sp_words;
	s->tid = tid;
	s->tgid = tgid;
	s->left = (uint32_t)(left > 0 ? left : 0);
	batch->n = n;
	return STREAM_MORE;
}
