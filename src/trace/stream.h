/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The records of one CPU, decoded chunk by chunk. The time of the next record is always known
 * before the record is handed out: that is what merging needs.
 */
#ifndef ISPOT_TRACE_STREAM_H
#define ISPOT_TRACE_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/record.h"

struct chunk_ref;
struct decompressor;
struct source;

struct stream {
	uint64_t time_ns; /* when the next record is due; of the latest where is_open is false */
	uint64_t lead_ns; /* the next record is a loss, due when it begins: its own time is so much
			     later */
	/* decoder: p is behind the next record's time delta, head is its first varint */
	const uint8_t *p, *end;
	uint64_t head, sp_words;
	uint32_t tid, tgid, cpu;
	bool is_open;
	uint32_t left; /* records of the open chunk not yet handed out, by its header */
	struct {
		uint64_t count, since_ns; /* of a REC_LOST that comes next */
		bool pending;
	} loss;
	const struct chunk_ref *first, *next, *last; /* chunks; next: the open one's successor */
	uint8_t *body;				     /* decompressed chunk and slack */
	size_t room;
};

struct stream_damage {
	uint64_t chunks, records; /* that could not be decoded */
};

/* Where decoded records go, with their values and bytes: it stays whole when chunks go. */
#define BATCH_RECORDS 512
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
	STREAM_MORE,  /* stopped at the limit, or the batch is full */
	STREAM_CHUNK, /* the chunk is used up, another follows; time_ns is its start */
	STREAM_END,
};

void stream_rewind(struct stream *s);
void stream_release(struct stream *s);

/* Decompresses the next chunk. A damaged one becomes a REC_LOST. */
enum stream_state stream_open_chunk(struct stream *s, struct source *source, struct decompressor *d,
				    struct stream_damage *damage);

/* Adds records to the batch, which is not full, up to limit_ns, of the open chunk. */
enum stream_state stream_read(struct stream *s, uint64_t limit_ns, struct batch *batch,
			      struct stream_damage *damage);

#endif
