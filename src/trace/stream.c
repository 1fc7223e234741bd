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

#define HEAD_LOST ((uint64_t)REC_LOST << 2 | 3)

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
	if (__builtin_expect(p[1] < 0x80, 1)) {
		*value = (*p & 0x7fu) | (uint64_t)p[1] << 7;
		return p + 2;
	}
	/* Eight bytes at once: the lengths of long time deltas cannot be predicted. */
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

/* The same without a guess at whether it is one byte or two, where nobody can know. */
static inline const uint8_t *get_head(const uint8_t *p, uint64_t *value)
{
	uint64_t two = p[0] >> 7;

	if (__builtin_expect(p[0] & p[1] & 0x80, 0))
		return get(p, value);
	*value = (p[0] & 0x7fu) | (p[1] & -two) << 7;
	return p + 1 + two;
}

/* ---- chunks ---- */

/* The next chunk may begin with a loss that goes back to here: it is looked into at once. */
static enum stream_state to_next_chunk(struct stream *s)
{
	s->is_open = false;
	s->lead_ns = 0;
	if (s->next == s->last)
		return STREAM_END;
	if (s->next->header.time_first_ns < s->time_ns)
		s->time_ns = s->next->header.time_first_ns;
	return STREAM_CHUNK;
}

/* count records of the open chunk will not come; the next thing to read is the REC_LOST. */
static void lose(struct stream *s, uint64_t count, uint64_t since_ns, struct stream_damage *damage)
{
	damage->chunks++;
	damage->records += count;
	s->loss.pending = true;
	s->loss.count = count;
	s->loss.since_ns = since_ns;
	s->tid = s->tgid = 0;
	s->time_ns = since_ns;
	s->lead_ns = 0;
	if (s->next[-1].header.time_last_ns > since_ns)
		s->lead_ns = s->next[-1].header.time_last_ns - since_ns;
}

static enum stream_state read_loss(struct stream *s, struct batch *batch)
{
	uint64_t *values = &batch->values[batch->n_values];

	values[0] = s->loss.count;
	values[1] = s->loss.since_ns;
	values[2] = values[3] = 0;
	batch->n_values += RECORD_VALUES_MIN;
	batch->records[batch->n++] = (struct record){
		.time_ns = s->time_ns + s->lead_ns,
		.kind = REC_LOST,
		.cpu = s->cpu,
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
	s->p = s->body + sizeof(ref->header);
	s->end = s->body + want;
	return true;
}

/*
 * A loss is handed out when it begins, for what comes from other CPUs meanwhile is to be read with
 * it in mind: how much earlier that is than its own time, p being at its payload's length.
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

/* To the head and time of the next record. False: nothing, or nothing whole, is there. */
static bool begin_chunk(struct stream *s, uint64_t before_ns)
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
	if (p > s->end)
		return false;
	if (s->head == HEAD_LOST)
		s->lead_ns = lead_of(p, s->end, before_ns, s->time_ns);
	s->time_ns -= s->lead_ns;
	return true;
}

enum stream_state stream_open_chunk(struct stream *s, struct source *source, struct decompressor *d,
				    struct stream_damage *damage)
{
	const struct chunk_ref *ref = s->next++;
	uint32_t n = ref->header.n_records;
	uint64_t before_ns = s->time_ns;

	s->is_open = true;
	s->time_ns = ref->header.time_first_ns;
	s->sp_words = 0;
	s->tid = s->tgid = 0;
	s->left = n;
	if (!decompress(s, ref, source, d) || (n && !begin_chunk(s, before_ns)))
		lose(s, n, ref->header.time_first_ns, damage);
	else if (n == 0)
		return to_next_chunk(s);
	return STREAM_MORE;
}

/* The decoder has come to the end of the open chunk, or to something that is no record. */
static enum stream_state finish_chunk(struct stream *s, int64_t left, uint64_t time_ns,
				      bool is_malformed, struct stream_damage *damage)
{
	s->time_ns = time_ns;
	if (left <= 0 && !is_malformed)
		return to_next_chunk(s);
	lose(s, left > 0 ? (uint64_t)left : 0, time_ns, damage);
	return STREAM_MORE;
}

void stream_rewind(struct stream *s)
{
	s->next = s->first;
	s->loss.pending = false;
	s->time_ns = 0;
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

/* p NULL: there are none. */
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

/* Over changes of thread to the next record's head; inlined, for the caller's variables to stay in
 * registers. */
static inline __attribute__((always_inline)) const uint8_t *
next_head(const uint8_t *p, const uint8_t *end, uint64_t *head, uint32_t *tid, uint32_t *tgid)
{
	uint64_t v;

	p = get_head(p, head);
	while (__builtin_expect((*head & 3) == REC_THREAD, 0)) {
		*tid = (uint32_t)(*head >> 2);
		p = get(p, &v);
		*tgid = (uint32_t)v;
		if (p >= end)
			break;
		p = get(p, head);
	}
	return p;
}

/*
 * The hot loop: everything of the stream that changes is in locals. Known before each turn: the
 * record's head and time; its other fields follow at p.
 */
enum stream_state stream_read(struct stream *s, uint64_t limit_ns, struct batch *batch,
			      struct stream_damage *damage)
{
	const uint8_t *p = s->p, *end = s->end;
	uint64_t head = s->head, time_ns = s->time_ns, sp_words = s->sp_words, v, before_ns;
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
			r->time_ns = time_ns += s->lead_ns;
			s->lead_ns = 0;
			if (batch->n_values > BATCH_VALUES || batch->n_bytes > BATCH_BYTES)
				room = n;
		}
		if (__builtin_expect(!p || p >= end, 0)) {
			/* malformed with p: a call whose stack pointer is cut off */
			batch->n = n - (p && p != end);
			return finish_chunk(s, left - (p == end), time_ns, p != end, damage);
		}
		left--;
		p = next_head(p, end, &head, &tid, &tgid);
		p = get(p, &v);
		if (__builtin_expect(p > end, 0)) {
			batch->n = n;
			return finish_chunk(s, left, time_ns, true, damage);
		}
		before_ns = time_ns;
		time_ns += (uint64_t)unzigzag(v);
		if (__builtin_expect(head == HEAD_LOST, 0)) {
			s->lead_ns = lead_of(p, end, before_ns, time_ns);
			time_ns -= s->lead_ns;
		}
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
