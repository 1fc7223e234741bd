/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finds the chunks of a trace, by the seek table if it agrees with the file, else by walking the
 * frames. It reads chunk headers, not bodies.
 */
#ifndef ISPOT_TRACE_FRAME_INDEX_H
#define ISPOT_TRACE_FRAME_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "trace/format.h"

struct decompressor;
struct err;
struct source;

struct chunk_ref {
	uint64_t offset;
	uint64_t bytes; /* length of the frame; 0: the frame is cut off behind its header */
	struct chunk_header header;
};

struct index {
	struct {
		VEC(struct chunk_ref)
	} metas, events;	/* events: by CPU and kind, then by offset */
	bool has_table;		/* the recorder closed the file */
	bool cut_off;		/* the last frame is not whole */
	uint64_t skipped_bytes; /* between frames: not part of any */
	uint32_t bad_chunks;	/* whole frames without a valid header */
	uint32_t other_version; /* of a chunk that was left out; 0: none */
};

/* Fails as trace_reader_open() does; path is for the sentences. */
int index_build(struct index *index, struct source *s, struct decompressor *d, const char *path,
		struct err *err);
void index_release(struct index *index);

#endif
