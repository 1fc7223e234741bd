// SPDX-License-Identifier: GPL-3.0-or-later
#include "trace/write/frame_file.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#include "base/err.h"
#include "trace/frame/codec.h"
#include "trace/frame/seektable.h"

#define META_CHUNK_BYTES (256u << 10)
#define META_LEVEL	 3	     /* meta is written rarely and compresses tenfold */
#define END_ROOM	 512	     /* for the end line's frame */
#define FRAMES_RESERVED	 (16u << 20) /* address space only; beyond it a file gets no table */

static int write_frame(struct frame_file *f, const void *frame, size_t n, size_t content)
{
	int ret = output_write(&f->out, frame, n);

	if (ret)
		return ret;
	if (f->n_frames < f->frames_room)
		f->frames[f->n_frames] = (struct seekable_frame){ (uint32_t)n, (uint32_t)content };
	f->n_frames++;
	return 0;
}

static bool fits(const struct frame_file *f, size_t n, uint64_t reserve)
{
	uint64_t end = seektable_bytes((uint64_t)f->n_frames + 2) + reserve;

	return !f->max_bytes || f->out.bytes + n + end <= f->max_bytes;
}

static int write_meta_chunk(struct frame_file *f, const char *lines, size_t n)
{
	struct chunk_header h = { .kind = CHUNK_META, .body_bytes = n };
	struct compressor *c = f->compressor, *large = NULL;
	const void *frame;
	size_t frame_bytes;
	int ret;

	for (const char *p = lines; (p = memchr(p, '\n', (size_t)(lines + n - p))); p++)
		h.n_records++;
	if (n > META_CHUNK_BYTES)
		c = large = compressor_new(META_LEVEL, n);
	ret = c ? compressor_chunk(c, &h, lines, &frame, &frame_bytes) : -ENOMEM;
	if (!ret)
		ret = fits(f, frame_bytes, f->end_room)
			      ? write_frame(f, frame, frame_bytes, sizeof(h) + n)
			      : -EFBIG;
	compressor_free(large);
	return ret;
}

/*
 * Returns the length of as many whole lines as fit into one chunk; a longer line is a chunk by
 * itself.
 */
static size_t meta_chunk_length(const char *lines, size_t n)
{
	const char *end;

	if (n <= META_CHUNK_BYTES)
		return n;
	end = memrchr(lines, '\n', META_CHUNK_BYTES);
	if (!end)
		end = memchr(lines, '\n', n);
	return (size_t)(end + 1 - lines);
}

static int write_meta(struct frame_file *f)
{
	size_t done = 0;
	int ret = f->out.failed;

	while (done < f->meta.n && !ret) {
		size_t n = meta_chunk_length(f->meta.s + done, f->meta.n - done);

		ret = write_meta_chunk(f, f->meta.s + done, n);
		if (!f->out.failed)
			done += n; /* written, or larger than the file may become */
	}
	if (done)
		memmove(f->meta.s, f->meta.s + done, f->meta.n - done);
	f->meta.n -= done;
	return ret;
}

int frame_file_events(struct frame_file *f, const void *frame, size_t n, size_t content)
{
	int ret = write_meta(f);

	if (ret)
		return ret;
	return fits(f, n, f->meta_reserve) ? write_frame(f, frame, n, content) : -EFBIG;
}

int frame_file_flush(struct frame_file *f)
{
	return write_meta(f);
}

static bool is_end_line(const char *line)
{
	return !strncmp(line, "{\"kind\":\"end\"", strlen("{\"kind\":\"end\""));
}

int frame_file_meta(struct frame_file *f, const char *line, size_t n)
{
	struct text *to = is_end_line(line) ? &f->end : &f->meta;

	text_addn(to, line, n);
	text_addn(to, "\n", 1);
	return f->out.failed;
}

int frame_file_explain(const struct frame_file *f, int code, struct err *err)
{
	if (f->out.failed)
		return output_explain(&f->out, err);
	if (code == -EFBIG)
		return err_set(
			err, code,
			"%s has reached its largest size; allow more with --max-size or choose fewer functions",
			f->out.path);
	return code ? err_set(err, code, "cannot compress into %s: %s; free some memory",
			      f->out.path, strerror(-code))
		    : 0;
}

/* ---- the end ---- */

static void write_seektable(struct frame_file *f)
{
	uint8_t head[SEEKTABLE_HEAD], foot[SEEKTABLE_FOOT];
	uint64_t before = f->out.bytes;

	if (f->n_frames > f->frames_room || !fits(f, 0, 0))
		return; /* readers walk the frames then */
	seektable_head(head, f->n_frames);
	seektable_foot(foot, f->n_frames);
	output_write(&f->out, head, sizeof(head));
	output_write(&f->out, f->frames, f->n_frames * sizeof(*f->frames));
	output_write(&f->out, foot, sizeof(foot));
	if (f->out.failed)
		output_cut(&f->out, before);
}

void frame_file_end(struct frame_file *f)
{
	f->end_room = 0;
	if (output_retry(&f->out) && write_meta(f)) {
		f->meta.n = 0;
		output_retry(&f->out);
	}
	text_addn(&f->meta, f->end.s ? f->end.s : "", f->end.n);
	write_meta(f);
}

void frame_file_last_events(struct frame_file *f, const void *frame, size_t n, size_t content)
{
	if (!f->out.failed && fits(f, n, 0))
		write_frame(f, frame, n, content);
}

int frame_file_close(struct frame_file *f, struct err *err)
{
	if (!f->out.failed)
		write_seektable(f);
	return output_close(&f->out, err);
}

void frame_file_release(struct frame_file *f)
{
	compressor_free(f->compressor);
	f->compressor = NULL;
	if (f->frames)
		munmap(f->frames, f->frames_room * sizeof(*f->frames));
	f->frames = NULL;
	text_release(&f->meta);
	text_release(&f->end);
}

/* ---- the start ---- */

static int reserve_frames(struct frame_file *f)
{
	void *p = MAP_FAILED;

	for (f->frames_room = FRAMES_RESERVED; f->frames_room >= 1024; f->frames_room /= 2) {
		p = mmap(NULL, f->frames_room * sizeof(*f->frames), PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (p != MAP_FAILED)
			break;
	}
	if (p == MAP_FAILED)
		return -ENOMEM;
	f->frames = p;
	return 0;
}

/*
 * Returns the room that the meta lines at the end of a recording (symbols, stacks) may still need.
 */
static uint64_t meta_reserve(uint64_t max_bytes)
{
	uint64_t share = max_bytes / 8, most = 16u << 20;

	return share < most ? share : most;
}

int frame_file_open(struct frame_file *f, const char *path, uint64_t max_bytes, struct err *err)
{
	*f = (struct frame_file){ .max_bytes = max_bytes, .meta_reserve = meta_reserve(max_bytes) };
	f->out.fd = -1;
	f->end_room = END_ROOM;
	f->compressor = compressor_new(META_LEVEL, META_CHUNK_BYTES);
	if (!f->compressor || reserve_frames(f))
		return err_set(err, -ENOMEM, "not enough memory to write %s; free some", path);
	return output_open(&f->out, path, err);
}
