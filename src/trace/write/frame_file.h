/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writes the frames of a trace: event frames as they come, meta lines between them, the end line
 * and the seek table at the end. It does no locking, which is left to its owner.
 */
#ifndef ISPOT_TRACE_WRITE_FRAME_FILE_H
#define ISPOT_TRACE_WRITE_FRAME_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "base/output.h"

struct compressor;
struct err;
struct seekable_frame;

struct frame_file {
	struct output out;
	uint64_t max_bytes;    /* 0: no bound */
	uint64_t meta_reserve; /* of that, for meta lines still to come */
	uint64_t end_room;     /* and for the end line */
	struct seekable_frame *frames;
	uint32_t n_frames, frames_room;
	struct text meta; /* lines not yet written */
	struct text end;  /* the end line: it says that nothing follows, so it is written last */
	struct compressor *compressor; /* of meta chunks */
};

int frame_file_open(struct frame_file *f, const char *path, uint64_t max_bytes, struct err *err);

/* A line of n bytes without its newline, kept for the next event frame or flush. */
int frame_file_meta(struct frame_file *f, const char *line, size_t n);
/*
 * Writes the pending meta lines, then a frame that decompresses to content bytes. -EFBIG: the file
 * would become too large.
 */
int frame_file_events(struct frame_file *f, const void *frame, size_t n, size_t content);
int frame_file_flush(struct frame_file *f);

/* Stores the sentence for code, which one of the functions above returned; returns code. */
int frame_file_explain(const struct frame_file *f, int code, struct err *err);

/*
 * Writes the last meta lines and the end line. This works on a full disk, too, in the room of the
 * chunk that did not fit, so that the end line can say why the file ends.
 */
void frame_file_end(struct frame_file *f);
/* Writes a small event frame after frame_file_end(), if there is room. */
void frame_file_last_events(struct frame_file *f, const void *frame, size_t n, size_t content);

/* Writes the table if there is room, and closes the file. */
int frame_file_close(struct frame_file *f, struct err *err);
void frame_file_release(struct frame_file *f);

#endif
