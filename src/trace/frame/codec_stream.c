// SPDX-License-Identifier: GPL-3.0-or-later
#include "trace/frame/codec_stream.h"

#include <errno.h>
#include <zstd.h>

#include "base/text.h"

#define PIECE 65536

void *codec_stream_new(void)
{
	return ZSTD_createDStream();
}

int codec_stream_feed(void *stream, const void *data, size_t n, size_t max, struct text *out)
{
	ZSTD_inBuffer in = { .src = data, .size = n };
	char piece[PIECE];
	ZSTD_outBuffer to = { .dst = piece, .size = sizeof(piece) };

	do {
		to.pos = 0;
		if (ZSTD_isError(ZSTD_decompressStream(stream, &to, &in)))
			return -EBADMSG;
		if (out->n + to.pos > max)
			return -EMSGSIZE;
		text_addn(out, piece, to.pos);
	} while (in.pos < in.size || to.pos == to.size);
	return 0;
}

void codec_stream_free(void *stream)
{
	ZSTD_freeDStream(stream);
}
