/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The records of one CPU, decoded chunk by chunk. The time of the next record is always known
 * before the record is returned, as merging needs it. Calls, which most records are, are decoded
 * some ahead, as a merge of many CPUs often takes only one call at a time from each.
 */
#ifndef ISPOT_TRACE_READ_STREAM_H
#define ISPOT_TRACE_READ_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/record.h"

struct chunk_ref;
struct decompressor;
struct source;

#define STREAM_CALLS 32

/* An entry or exit: the members in which it differs from the one before it. */
struct stream_call {
	uint64_t time_ns, sp;
	uint64_t head; /* id << 2 | kind */
};

/* Where decoding is: p is behind a record's time delta, head is its first varint. */
struct stream_cursor {
	const uint8_t *p, *end;
	uint64_t head, sp_words;
	uint64_t time_ns; /* when the record is due; behind the chunk: the last record's time */
	uint64_t lead_ns; /* of a loss, due when it begins: its own time is so much later */
	uint32_t tid, tgid;
	int64_t left; /* records of the chunk, by its header */
	enum { STREAM_RECORD, STREAM_USED_UP, STREAM_MALFORMED } at;
};

struct stream {
	struct stream_cursor cursor; /* behind the calls decoded ahead */
	bool is_open;
	struct {
		uint64_t count, since_ns; /* of a REC_LOST that comes next */
		bool pending;
	} loss;
	const struct chunk_ref *first, *next, *last; /* chunks; next: the open one's successor */
	uint8_t *body;				     /* decompressed chunk and slack */
	size_t room;
	/*
	 * Decoded, up to calls_end; of that one only the time is set: what comes then is due. All
	 * are of one thread, like that record.
	 */
	const struct stream_call *next_call, *calls_end;
	struct record like;
	struct stream_call calls[STREAM_CALLS + 1];
	uint64_t unused; /* a power of two in all: the stream of a call is found by a shift */
};

_Static_assert((sizeof(struct stream) & (sizeof(struct stream) - 1)) == 0, "a power of two");

struct stream_damage {
	uint64_t chunks, records; /* chunks and records that could not be decoded */
};

/* Decoded records with copies of their values and bytes, which stay valid when chunks are freed. */
#define BATCH_RECORDS 256
#define BATCH_VALUES  (BATCH_RECORDS * RECORD_VALUES_MIN)
#define BATCH_BYTES   8192

struct batch {
	uint32_t n, n_values, n_bytes;
	uint64_t frame_bytes;	     /* of the file that reading came to, with it */
	struct stream_damage damage; /* found so far */
	struct record records[BATCH_RECORDS];
	uint64_t values[BATCH_VALUES + RECORD_VALUES_MAX];
	char bytes[BATCH_BYTES + RECORD_BYTES_MAX];
};

static inline bool batch_is_full(const struct batch *b)
{
	return b->n == BATCH_RECORDS || b->n_values > BATCH_VALUES || b->n_bytes > BATCH_BYTES;
}

enum stream_state {
	STREAM_MORE,
	STREAM_CHUNK, /* the chunk has no more records, another chunk follows */
	STREAM_END,
};

/* Initializes a stream of these chunks of one CPU, at least one; they must outlive it. */
void stream_init(struct stream *s, const struct chunk_ref *first, const struct chunk_ref *last);
void stream_rewind(struct stream *s);
void stream_release(struct stream *s);

/* Returns when the stream's next record, or chunk, is due. */
static inline uint64_t stream_due_ns(const struct stream *s)
{
	return s->next_call->time_ns;
}

static inline bool stream_has_call(const struct stream *s)
{
	return s->next_call < s->calls_end;
}

/* call: its next one, of which there is one. */
static inline void stream_take_call(struct stream *s, const struct stream_call *call,
				    struct record *r)
{
	s->next_call = call + 1;
	*r = s->like;
	r->time_ns = call->time_ns;
	r->sp = call->sp;
	r->kind = call->head & 3;
	r->id = (uint32_t)(call->head >> 2);
}

/* Decompresses the next chunk. A damaged one becomes a REC_LOST. */
enum stream_state stream_open_chunk(struct stream *s, struct source *source, struct decompressor *d,
				    struct stream_damage *damage);

/*
 * Adds the next record to the batch, which must not be full, or decodes calls. Needs an open chunk
 * and no decoded calls left.
 */
enum stream_state stream_read(struct stream *s, struct batch *batch, struct stream_damage *damage);

#endif
