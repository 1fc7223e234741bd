/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The row of frames that a trace is, being written: event frames as they come, meta lines between
 * them, the end line and the seek table at the end. Not locked: its owner does.
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
/* A frame that unpacks to content bytes, behind the meta lines that wait. -EFBIG: it would be too
 * much. */
int frame_file_events(struct frame_file *f, const void *frame, size_t n, size_t content);
int frame_file_flush(struct frame_file *f);

/* The sentence for what one of the above returned; returns code. */
int frame_file_explain(const struct frame_file *f, int code, struct err *err);

/*
 * The last meta lines and the end line. On a full disk as well: the chunk that did not fit has left
 * its room, and with its end the file says itself why it ends.
 */
void frame_file_end(struct frame_file *f);
/* After that: a small event frame, if there is still room. */
void frame_file_last_events(struct frame_file *f, const void *frame, size_t n, size_t content);

/* Writes the table if there is room, and closes the file. */
int frame_file_close(struct frame_file *f, struct err *err);
void frame_file_release(struct frame_file *f);

#endif
