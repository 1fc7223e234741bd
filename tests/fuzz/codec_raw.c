// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Stands in for codec.c in fuzzing builds: a frame is zstd's magic and the chunk as it
 * is, and no CRC is compared, so that the fuzzer's changes reach the decoders of chunks.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/frame/codec.h"

#define MAGIC	  0xfd2fb528u
#define SKIPPABLE 0x184d2a50u

struct compressor {
	uint8_t *out;
	size_t body_max;
};

struct compressor *compressor_new(int level, size_t body_max)
{
	struct compressor *c = calloc(1, sizeof(*c));

	(void)level;
	c->body_max = body_max;
	c->out = malloc(4 + sizeof(struct chunk_header) + body_max);
	return c;
}

void compressor_free(struct compressor *c)
{
	if (c)
		free(c->out);
	free(c);
}

int compressor_chunk(struct compressor *c, struct chunk_header *h, const void *body,
		     const void **frame, size_t *frame_bytes)
{
	uint32_t magic = MAGIC;

	if (h->body_bytes > c->body_max)
		return -EMSGSIZE;
	h->magic = TRACE_MAGIC;
	h->version = TRACE_VERSION;
	memcpy(c->out, &magic, 4);
	memcpy(c->out + 4, h, sizeof(*h));
	memcpy(c->out + 4 + sizeof(*h), body, h->body_bytes);
	*frame = c->out;
	*frame_bytes = 4 + sizeof(*h) + h->body_bytes;
	return 0;
}

int compressor_plain(struct compressor *c, const void *data, size_t n, const void **frame,
		     size_t *frame_bytes)
{
	if (n > c->body_max)
		return -EMSGSIZE;
	memcpy(c->out, data, n);
	*frame = c->out;
	*frame_bytes = n;
	return 0;
}

struct decompressor {
	int unused;
};

struct decompressor *decompressor_new(void)
{
	return calloc(1, sizeof(struct decompressor));
}

void decompressor_free(struct decompressor *d)
{
	free(d);
}

int codec_frame_bytes(const void *p, size_t n, size_t *bytes)
{
	struct chunk_header h;
	uint32_t words[2];

	if (n < sizeof(words))
		return -EAGAIN;
	memcpy(words, p, sizeof(words));
	if ((words[0] & ~15u) == SKIPPABLE) {
		*bytes = 8 + (size_t)words[1];
		return 0;
	}
	if (words[0] != MAGIC)
		return -EBADMSG;
	if (n < 4 + sizeof(h))
		return -EAGAIN;
	memcpy(&h, (const uint8_t *)p + 4, sizeof(h));
	if (h.body_bytes > CHUNK_BODY_MAX)
		return -EBADMSG;
	*bytes = 4 + sizeof(h) + h.body_bytes;
	return *bytes > n ? -EAGAIN : 0;
}

int codec_chunk_header(struct decompressor *d, const void *p, size_t n, struct chunk_header *h)
{
	uint32_t magic;

	(void)d;
	if (n < 4 + sizeof(*h))
		return -EAGAIN;
	memcpy(&magic, p, 4);
	if ((magic & ~15u) == SKIPPABLE)
		return -ENOMSG;
	memcpy(h, (const uint8_t *)p + 4, sizeof(*h));
	if (magic != MAGIC || h->magic != TRACE_MAGIC || h->body_bytes > CHUNK_BODY_MAX)
		return -EBADMSG;
	return h->version == TRACE_VERSION ? 0 : -EPROTO;
}

int codec_decompress(struct decompressor *d, const void *p, size_t n, const struct chunk_header *h,
		     void *out, size_t room)
{
	size_t want = sizeof(*h) + h->body_bytes;

	(void)d;
	if (n != 4 + want || room < want)
		return -EBADMSG;
	memcpy(out, (const uint8_t *)p + 4, want);
	return 0;
}
