/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Compresses chunks to zstd frames, and back. A frame made here is an ordinary one with its content
 * size in the header and no checksum (the chunk has CRCs). Its first block is the chunk header,
 * stored raw, so that an index can be built without decompressing bodies. Readers must not rely on
 * that: a frame that another tool recompressed is valid, too.
 */
#ifndef ISPOT_TRACE_FRAME_CODEC_H
#define ISPOT_TRACE_FRAME_CODEC_H

#include <stddef.h>
#include <stdint.h>

#include "trace/format.h"

#define CODEC_LEVEL_DEFAULT \
	1 /* by measurement, tests/bench/trace_speed.c: 3 ns more than -1, a quarter smaller */
#define CODEC_FRAME_HEAD 64 /* bytes of a frame that codec_chunk_header() needs */

struct compressor; /* all its memory is allocated by _new */

/*
 * Returns a compressor for bodies of up to body_max bytes, or NULL if memory is exhausted; level 0:
 * the default.
 */
struct compressor *compressor_new(int level, size_t body_max);
void compressor_free(struct compressor *c);
/*
 * Compresses a chunk and sets h's sizes, version and CRCs. The frame belongs to c and is valid
 * until c is used again. -EMSGSIZE: the body is too large.
 */
int compressor_chunk(struct compressor *c, struct chunk_header *h, const void *body,
		     const void **frame, size_t *frame_bytes);
/*
 * Compresses any data (at most body_max bytes) to an ordinary frame, for files that are not traces.
 */
int compressor_plain(struct compressor *c, const void *data, size_t n, const void **frame,
		     size_t *frame_bytes);

struct decompressor;

struct decompressor *decompressor_new(void);
void decompressor_free(struct decompressor *d);

/*
 * Stores the length of the frame that begins at p, of which n bytes are known. Skippable frames
 * count as frames. -EAGAIN: more than n bytes are needed, or the frame is cut off; -EBADMSG: not a
 * frame.
 */
int codec_frame_bytes(const void *p, size_t n, size_t *bytes);

/*
 * Reads and checks the header of the chunk in the frame at p, of which n bytes are known. -EAGAIN:
 * more bytes are needed; -EBADMSG: not a chunk; -EPROTO: a chunk of another version (in
 * h->version); -ENOMSG: a skippable frame.
 */
int codec_chunk_header(struct decompressor *d, const void *p, size_t n, struct chunk_header *h);

/*
 * Decompresses the chunk of the frame at p into out: 48 bytes of header, then h->body_bytes. room
 * is the size of out, at least 48 + h->body_bytes. -EBADMSG: damaged.
 */
int codec_decompress(struct decompressor *d, const void *p, size_t n, const struct chunk_header *h,
		     void *out, size_t room);

#endif
