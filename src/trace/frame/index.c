// SPDX-License-Identifier: GPL-3.0-or-later
#include "trace/frame/index.h"

#include <ctype.h>
#include <errno.h>

#include "base/cpus.h"
#include "base/err.h"
#include "trace/frame/codec.h"
#include "trace/frame/seektable.h"
#include "trace/frame/source.h"

#define PEEK_BYTES  (64u << 10) /* first guess of a frame's length */
#define FRAME_MAX   (CHUNK_BODY_MAX + (1u << 20))
#define SEARCH_STEP (1u << 20)
#define RESYNC_MAX  256 /* damaged places; each search may look at a whole frame's length */

static const uint8_t zstd_magic[4] = { 0x28, 0xb5, 0x2f, 0xfd };

static bool is_events(const struct chunk_header *h)
{
	return h->kind == CHUNK_EVENTS || h->kind == CHUNK_LATE;
}

static void add_chunk(struct index *index, uint64_t offset, uint64_t bytes,
		      const struct chunk_header *h)
{
	struct chunk_ref *ref;

	if (h->kind == CHUNK_META)
		ref = vec_add(&index->metas);
	else if (is_events(h) && h->cpu < CPUS_MAX)
		ref = vec_add(&index->events);
	else if (is_events(h))
		return (void)index->bad_chunks++;
	else
		return; /* of a later version that says it can be left out: same version number */
	*ref = (struct chunk_ref){ .offset = offset, .bytes = bytes, .header = *h };
}

/*
 * Adds the chunk in the frame at offset to the index. bytes of the frame are in the file; whole:
 * the frame is complete.
 */
static void index_frame(struct index *index, struct source *s, struct decompressor *d,
			uint64_t offset, uint64_t bytes, bool whole)
{
	struct chunk_header h;
	size_t got, want = bytes < CODEC_FRAME_HEAD ? (size_t)bytes : CODEC_FRAME_HEAD;
	const uint8_t *p = source_at(s, offset, want, &got);
	int ret = codec_chunk_header(d, p, got < want ? got : want, &h);

	if (ret == -EAGAIN && bytes > want) {
		want = bytes < FRAME_MAX ? (size_t)bytes : FRAME_MAX;
		p = source_at(s, offset, want, &got);
		ret = codec_chunk_header(d, p, got < want ? got : want, &h);
	}
	if (ret == 0)
		add_chunk(index, offset, whole ? bytes : 0, &h);
	else if (ret == -EPROTO)
		index->other_version = h.version ? h.version : UINT32_MAX;
	else if (ret != -ENOMSG && whole)
		index->bad_chunks++;
}

/* ---- by the seek table ---- */

#define TABLE_BLOCK 512 /* entries read at once, as the file is read at other places in between */

struct table {
	uint64_t at; /* in the file */
	uint32_t n, entry_bytes;
};

/* -ENOENT: the file does not end with a table. */
static int find_table(struct source *s, struct table *table)
{
	uint64_t bytes;
	size_t got;
	const uint8_t *p;
	uint32_t magic_and_rest[2];
	uint8_t head[SEEKTABLE_HEAD];

	if (s->size < SEEKTABLE_HEAD + SEEKTABLE_FOOT)
		return -ENOENT;
	p = source_at(s, s->size - SEEKTABLE_FOOT, SEEKTABLE_FOOT, &got);
	if (got < SEEKTABLE_FOOT || seektable_read_foot(p, &table->n, &table->entry_bytes))
		return -ENOENT;
	bytes = SEEKTABLE_HEAD + (uint64_t)table->n * table->entry_bytes + SEEKTABLE_FOOT;
	if (bytes > s->size)
		return -ENOENT;
	table->at = s->size - bytes;
	p = source_at(s, table->at, SEEKTABLE_HEAD, &got);
	if (got < SEEKTABLE_HEAD)
		return -ENOENT;
	memcpy(magic_and_rest, p, sizeof(magic_and_rest));
	seektable_head(head, 0);
	if (memcmp(p, head, 4) || magic_and_rest[1] != bytes - SEEKTABLE_HEAD)
		return -ENOENT;
	return 0;
}

/* Reads up to TABLE_BLOCK compressed sizes from entry first on. Returns how many it read. */
static uint32_t read_entries(struct source *s, const struct table *table, uint32_t first,
			     uint32_t sizes[TABLE_BLOCK])
{
	uint32_t n = table->n - first < TABLE_BLOCK ? table->n - first : TABLE_BLOCK;
	size_t want = (size_t)n * table->entry_bytes, got;
	const uint8_t *p = source_at(
		s, table->at + SEEKTABLE_HEAD + (uint64_t)first * table->entry_bytes, want, &got);

	if (got < want)
		return 0;
	for (uint32_t i = 0; i < n; i++)
		memcpy(&sizes[i], p + (size_t)i * table->entry_bytes, sizeof(sizes[i]));
	return n;
}

/* Whether the sizes of the frames add up to the offset of the table. */
static bool table_agrees(struct source *s, const struct table *table)
{
	uint32_t sizes[TABLE_BLOCK], n;
	uint64_t offset = 0;

	for (uint32_t first = 0; first < table->n; first += n) {
		n = read_entries(s, table, first, sizes);
		if (n == 0)
			return false;
		for (uint32_t i = 0; i < n; i++)
			offset += sizes[i];
	}
	return offset == table->at;
}

/* Indexes the frames that the table lists. -ENOENT: no table, or it does not fit the file. */
static int index_by_table(struct index *index, struct source *s, struct decompressor *d)
{
	struct table table;
	uint32_t sizes[TABLE_BLOCK], n;
	uint64_t offset = 0;

	if (find_table(s, &table) || !table_agrees(s, &table))
		return -ENOENT;
	for (uint32_t first = 0; first < table.n; first += n) {
		n = read_entries(s, &table, first, sizes);
		if (n == 0)
			break; /* the file has shrunk since: reading will report the missing chunks
				*/
		for (uint32_t i = 0; i < n; i++) {
			index_frame(index, s, d, offset, sizes[i], true);
			offset += sizes[i];
		}
	}
	index->has_table = true;
	return 0;
}

/* ---- by walking ---- */

/* Length of the frame at offset; -EAGAIN: cut off by the end of the file; -EBADMSG: no frame. */
static int frame_length(struct source *s, uint64_t offset, uint64_t *bytes)
{
	for (size_t want = PEEK_BYTES;; want *= 2) {
		size_t got, length;
		const uint8_t *p = source_at(s, offset, want, &got);
		bool is_rest = offset + got >= s->size || got < want;
		int ret = codec_frame_bytes(p, got, &length);

		if (!ret) {
			*bytes = length;
			return length > s->size - offset ? -EAGAIN : 0;
		}
		if (ret != -EAGAIN || is_rest)
			return ret;
		if (want > FRAME_MAX)
			return -EBADMSG; /* no chunk is that large */
	}
}

/* Returns the next offset that looks like a frame, or the file's size. */
static uint64_t next_frame(struct source *s, uint64_t offset)
{
	while (offset + sizeof(zstd_magic) <= s->size) {
		size_t got;
		const uint8_t *p = source_at(s, offset, SEARCH_STEP, &got), *hit;

		if (got < sizeof(zstd_magic))
			break;
		hit = memmem(p, got, zstd_magic, sizeof(zstd_magic));
		if (hit)
			return offset + (uint64_t)(hit - p);
		offset += got - (sizeof(zstd_magic) - 1);
	}
	return s->size;
}

static void index_by_walking(struct index *index, struct source *s, struct decompressor *d)
{
	uint64_t offset = 0;
	unsigned resyncs = 0;

	s->read_ahead = SOURCE_WALK;
	while (offset < s->size) {
		uint64_t bytes = 0, next;
		int ret = frame_length(s, offset, &bytes);

		if (!ret) {
			index_frame(index, s, d, offset, bytes, true);
			offset += bytes;
			continue;
		}
		/* Cut off at the end, or damaged: whatever comes later may still be whole. */
		next = ++resyncs > RESYNC_MAX ? s->size : next_frame(s, offset + 1);
		index_frame(index, s, d, offset, next - offset, false);
		if (next == s->size && ret == -EAGAIN)
			index->cut_off = true;
		else
			index->skipped_bytes += next - offset;
		offset = next;
	}
	s->read_ahead = SOURCE_LOOK;
}

/* ---- what else it may be ---- */

static const struct {
	const char *magic;
	size_t n;
	const char *what, *hint;
} lookalikes[] = {
	{ "PERFILE2", 8, "is a perf.data", "read it with `perf report`" },
	{ "2ELIFREP", 8, "is a perf.data", "read it with `perf report`" },
	{ "\177ELF", 4, "is an ELF file", "record it with `ispot record`" },
	{ "\x17\x08\x44tracing", 10, "is a trace.dat", "read it with `trace-cmd report`" },
	{ "\x1f\x8b", 2, "is compressed with gzip", "unpack it first" },
	{ "\xfd"
	  "7zXZ",
	  5, "is compressed with xz", "unpack it first" },
	{ "{\"kind\"", 7, "is a trace as text", "`ispot dump --from-text` makes a trace of it" },
	{ "#!", 2, "is a script", "name the ispot.data that `ispot record` wrote" },
};

/* Returns what kind of file this looks like; *hint: what to do with it. */
static const char *looks_like(const uint8_t *p, size_t n, const char **hint)
{
	size_t i = 0;

	for (size_t k = 0; k < sizeof(lookalikes) / sizeof(lookalikes[0]); k++)
		if (n >= lookalikes[k].n && !memcmp(p, lookalikes[k].magic, lookalikes[k].n)) {
			*hint = lookalikes[k].hint;
			return lookalikes[k].what;
		}
	*hint = "name a file that `ispot record` wrote";
	for (i = 0; i < n && i < 512; i++)
		if (!isprint(p[i]) && !isspace(p[i]))
			return "is not an ispot.data";
	return "is a text file";
}

static int not_a_trace(const struct index *index, struct source *s, const char *path,
		       struct err *err)
{
	const char *what, *hint;
	size_t got;
	const uint8_t *p = source_at(s, 0, 512, &got);

	if (index->other_version)
		return err_set(
			err, -EPROTO,
			"%s is of format version %u, this ispot reads version %u; use the ispot that recorded it",
			path, index->other_version, TRACE_VERSION);
	if (got >= sizeof(zstd_magic) && !memcmp(p, zstd_magic, sizeof(zstd_magic)))
		return err_set(
			err, -EINVAL,
			index->cut_off
				? "%s is cut off before its first chunk; record again"
				: "%s is compressed with zstd, but not an ispot.data, or damaged from its start; name a file that `ispot record` wrote",
			path);
	what = looks_like(p, got, &hint);
	return err_set(err, -EINVAL, "%s %s; %s", path, what, hint);
}

static int by_stream_and_offset(const void *a, const void *b)
{
	const struct chunk_ref *x = a, *y = b;

	if (x->header.kind != y->header.kind)
		return x->header.kind < y->header.kind ? -1 : 1;
	if (x->header.cpu != y->header.cpu)
		return x->header.cpu < y->header.cpu ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

int index_build(struct index *index, struct source *s, struct decompressor *d, const char *path,
		struct err *err)
{
	size_t got;
	const uint8_t *p;

	*index = (struct index){ 0 };
	if (s->size == 0)
		return err_set(err, -ENODATA, "%s is empty; record again", path);
	p = source_at(s, 0, sizeof(zstd_magic), &got);
	if (got < sizeof(zstd_magic) || memcmp(p, zstd_magic, sizeof(zstd_magic)))
		return not_a_trace(index, s, path, err);
	if (index_by_table(index, s, d))
		index_by_walking(index, s, d);
	if (!index->metas.n && !index->events.n)
		return not_a_trace(index, s, path, err);
	vec_sort(&index->events, by_stream_and_offset);
	return 0;
}

void index_release(struct index *index)
{
	vec_release(&index->metas);
	vec_release(&index->events);
}
