/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A zstd stream that comes in pieces, as perf record -z writes it. */
#ifndef ISPOT_TRACE_FRAME_CODEC_STREAM_H
#define ISPOT_TRACE_FRAME_CODEC_STREAM_H

#include <stddef.h>

struct text;

void *codec_stream_new(void); /* NULL: memory is exhausted */
/*
 * Decompresses a piece and appends the result. -EBADMSG: it is damaged; -EMSGSIZE: out would be
 * longer than max.
 */
int codec_stream_feed(void *stream, const void *data, size_t n, size_t max, struct text *out);
void codec_stream_free(void *stream); /* NULL is fine */

#endif
