// SPDX-License-Identifier: GPL-3.0-or-later
#define ZSTD_STATIC_LINKING_ONLY  /* contexts in memory of our own: compressing must not allocate \
				   */
#include "trace/frame/codec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/crc.h"

_Static_assert(sizeof(struct chunk_header) == 48, "the format says 48 bytes");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "headers are stored as they are");

/*
 * The head of a frame, in front of its compressed blocks (RFC 8878, 3.1.1): magic, a descriptor
 * (single segment, content size in four bytes), content size, a raw block with the chunk header.
 */
struct __attribute__((packed)) frame_head {
	uint32_t magic;
	uint8_t descriptor;
	uint32_t content_bytes;
	uint8_t block_header[3];
	struct chunk_header chunk;
};
_Static_assert(sizeof(struct frame_head) <= CODEC_FRAME_HEAD, "the head must fit");

#define FRAME_DESCRIPTOR 0xa0
#define BLOCK_RAW_OF(n)	 ((uint32_t)(n) << 3) /* not the last block, type 0 */
#define ZSTD_HEADER_MAX	 18
#define HEADER_CRC_OVER	 offsetof(struct chunk_header, header_crc)

struct compressor {
	void *workspace;
	ZSTD_CCtx *ctx;
	uint8_t *out;
	size_t out_room, body_max;
	int level;
};

struct compressor *compressor_new(int level, size_t body_max)
{
	struct compressor *c = calloc(1, sizeof(*c));
	size_t workspace_bytes;

	if (!c)
		return NULL;
	c->level = level ? level : CODEC_LEVEL_DEFAULT;
	c->body_max = body_max;
	c->out_room = CODEC_FRAME_HEAD + ZSTD_HEADER_MAX + ZSTD_compressBound(body_max);
	workspace_bytes = ZSTD_estimateCCtxSize(c->level);
	c->workspace = aligned_alloc(64, (workspace_bytes + 63) & ~(size_t)63);
	c->out = malloc(c->out_room);
	if (c->workspace && c->out)
		c->ctx = ZSTD_initStaticCCtx(c->workspace, workspace_bytes);
	if (!c->ctx) {
		compressor_free(c);
		return NULL;
	}
	return c;
}

void compressor_free(struct compressor *c)
{
	if (!c)
		return;
	free(c->workspace); /* this frees the context, too, which is inside */
	free(c->out);
	free(c);
}

static void seal_header(struct chunk_header *h, const void *body)
{
	h->magic = TRACE_MAGIC;
	h->version = TRACE_VERSION;
	h->body_crc = crc32_of(body, h->body_bytes);
	h->header_crc = crc32_of(h, HEADER_CRC_OVER);
}

/*
 * Replaces zstd's frame header by ours, whose content size is 48 bytes larger, followed by these 48
 * bytes: the chunk header in a raw block.
 */
static uint8_t *splice_head(uint8_t *blocks, const struct chunk_header *h)
{
	uint32_t block = BLOCK_RAW_OF(sizeof(*h));
	struct frame_head head = {
		.magic = ZSTD_MAGICNUMBER,
		.descriptor = FRAME_DESCRIPTOR,
		.content_bytes = (uint32_t)(sizeof(*h) + h->body_bytes),
		.chunk = *h,
	};

	memcpy(head.block_header, &block, sizeof(head.block_header));
	return memcpy(blocks - sizeof(head), &head, sizeof(head));
}

int compressor_chunk(struct compressor *c, struct chunk_header *h, const void *body,
		     const void **frame, size_t *frame_bytes)
{
	uint8_t *zstd_frame = c->out + CODEC_FRAME_HEAD, *start;
	size_t n, zstd_head;

	if (h->body_bytes > c->body_max || h->body_bytes > CHUNK_BODY_MAX)
		return -EMSGSIZE;
	seal_header(h, body);
	n = ZSTD_compressCCtx(c->ctx, zstd_frame, c->out_room - CODEC_FRAME_HEAD, body,
			      h->body_bytes, c->level);
	if (ZSTD_isError(n))
		return -EIO;
	zstd_head = ZSTD_frameHeaderSize(zstd_frame, n);
	start = splice_head(zstd_frame + zstd_head, h);
	*frame = start;
	*frame_bytes = (size_t)(zstd_frame + n - start);
	return 0;
}

int compressor_plain(struct compressor *c, const void *data, size_t n, const void **frame,
		     size_t *frame_bytes)
{
	size_t size;

	if (n > c->body_max)
		return -EMSGSIZE;
	size = ZSTD_compressCCtx(c->ctx, c->out, c->out_room, data, n, c->level);
	if (ZSTD_isError(size))
		return -EIO;
	*frame = c->out;
	*frame_bytes = size;
	return 0;
}

struct decompressor {
	ZSTD_DCtx *ctx;
};

struct decompressor *decompressor_new(void)
{
	struct decompressor *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->ctx = ZSTD_createDCtx();
	if (!d->ctx) {
		free(d);
		return NULL;
	}
	return d;
}

void decompressor_free(struct decompressor *d)
{
	if (!d)
		return;
	ZSTD_freeDCtx(d->ctx);
	free(d);
}

static uint32_t load32(const void *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static int is_skippable(uint32_t magic)
{
	return (magic & ZSTD_MAGIC_SKIPPABLE_MASK) == ZSTD_MAGIC_SKIPPABLE_START;
}

int codec_frame_bytes(const void *p, size_t n, size_t *bytes)
{
	uint32_t magic;
	size_t size;

	if (n < 4)
		return -EAGAIN;
	magic = load32(p);
	if (is_skippable(magic)) {
		if (n < 8)
			return -EAGAIN;
		*bytes = 8 + (size_t)load32((const uint8_t *)p + 4);
		return 0;
	}
	if (magic != ZSTD_MAGICNUMBER)
		return -EBADMSG;
	size = ZSTD_findFrameCompressedSize(p, n);
	if (ZSTD_isError(size))
		return ZSTD_getErrorCode(size) == ZSTD_error_srcSize_wrong ? -EAGAIN : -EBADMSG;
	*bytes = size;
	return 0;
}

static int check_header(const struct chunk_header *h, uint64_t content_bytes)
{
	if (h->magic != TRACE_MAGIC)
		return -EBADMSG;
	if (h->version != TRACE_VERSION)
		return -EPROTO;
	if (h->header_crc != crc32_of(h, HEADER_CRC_OVER))
		return -EBADMSG;
	if (h->body_bytes > CHUNK_BODY_MAX || content_bytes != sizeof(*h) + h->body_bytes)
		return -EBADMSG;
	return 0;
}

/* Decompresses the beginning of a frame that another tool compressed, to read the chunk header. */
static int stream_header(struct decompressor *d, const void *p, size_t n, struct chunk_header *h)
{
	ZSTD_inBuffer in = { p, n, 0 };
	ZSTD_outBuffer out = { h, sizeof(*h), 0 };

	ZSTD_DCtx_reset(d->ctx, ZSTD_reset_session_only);
	while (out.pos < out.size) {
		size_t before = in.pos + out.pos;
		size_t hint = ZSTD_decompressStream(d->ctx, &out, &in);

		if (ZSTD_isError(hint))
			return -EBADMSG;
		if (out.pos < out.size && (hint == 0 || in.pos + out.pos == before))
			return hint == 0 ? -EBADMSG : -EAGAIN;
	}
	return 0;
}

int codec_chunk_header(struct decompressor *d, const void *p, size_t n, struct chunk_header *h)
{
	struct frame_head head;
	unsigned long long content_bytes;
	uint32_t block = BLOCK_RAW_OF(sizeof(*h));
	int ret;

	if (n < 4)
		return -EAGAIN;
	if (is_skippable(load32(p)))
		return -ENOMSG;
	content_bytes = ZSTD_getFrameContentSize(p, n);
	if (content_bytes == ZSTD_CONTENTSIZE_ERROR)
		return n < ZSTD_HEADER_MAX && load32(p) == ZSTD_MAGICNUMBER ? -EAGAIN : -EBADMSG;
	if (content_bytes == ZSTD_CONTENTSIZE_UNKNOWN ||
	    content_bytes > sizeof(*h) + (uint64_t)CHUNK_BODY_MAX)
		return -EBADMSG;
	memcpy(&head, p, n < sizeof(head) ? n : sizeof(head));
	if (n >= sizeof(head) && head.descriptor == FRAME_DESCRIPTOR &&
	    !memcmp(head.block_header, &block, sizeof(head.block_header))) {
		*h = head.chunk;
	} else {
		ret = stream_header(d, p, n, h);
		if (ret)
			return ret;
	}
	return check_header(h, content_bytes);
}

int codec_decompress(struct decompressor *d, const void *p, size_t n, const struct chunk_header *h,
		     void *out, size_t room)
{
	size_t want = sizeof(*h) + h->body_bytes, got;

	if (room < want)
		return -EBADMSG;
	got = ZSTD_decompressDCtx(d->ctx, out, room, p, n);
	if (ZSTD_isError(got) || got != want || memcmp(out, h, sizeof(*h)))
		return -EBADMSG;
	if (crc32_of((uint8_t *)out + sizeof(*h), h->body_bytes) != h->body_crc)
		return -EBADMSG;
	return 0;
}
