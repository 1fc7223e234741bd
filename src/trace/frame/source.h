/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Bytes of a trace by offset: a file read with pread(2), or memory. Not mapped: a file that
 * shrinks while it is read would kill the process with SIGBUS, and mapped pages would count as
 * the reader's memory. A pipe is first copied to an unlinked temporary file.
 */
#ifndef ISPOT_TRACE_FRAME_SOURCE_H
#define ISPOT_TRACE_FRAME_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

struct source {
	int fd; /* -1: memory */
	uint64_t size;
	const uint8_t *memory;
	uint8_t *window; /* of a file: bytes [window_at, window_at + window_n) */
	uint64_t window_at;
	size_t window_n, window_room;
	bool is_shared;	   /* fd belongs to another source or to the caller */
	size_t read_ahead; /* least size of a read: small for a look here and there, large for a
			      walk */
};

#define SOURCE_LOOK 4096u
#define SOURCE_WALK (1u << 20)

int source_open(struct source *s, const char *path, struct err *err); /* "-": standard input */
/* Opens a regular file by its descriptor, which stays the caller's. */
int source_open_fd(struct source *s, int fd, struct err *err);
void source_open_memory(struct source *s, const void *data, size_t n);

/* Gives another thread the same bytes with a window of its own; s must outlive shared. */
void source_share(struct source *shared, const struct source *s);

/*
 * Returns at least want bytes at offset, valid until the next call. *got is less than want if the
 * file ends before (0 at the end, or if it cannot be read).
 */
const uint8_t *source_at(struct source *s, uint64_t offset, size_t want, size_t *got);

/*
 * Whether a writer (output_open()) has the file open, so that its missing end may still be written.
 */
bool source_is_written(const struct source *s);

void source_release(struct source *s);

#endif
