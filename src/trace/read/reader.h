/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads ispot.data. The meta is read whole at open; records come as one stream over all CPUs in
 * time order (ties: lower CPU first, what was written late last), a REC_LOST as of when it begins.
 * Memory: one decompressed chunk per CPU, whatever the file's size. A hostile file cannot make it
 * read outside its buffers, loop, or allocate more than CHUNK_BODY_MAX per CPU. Of large files a
 * thread of its own reads ahead (trace/read/readahead.h).
 *
 * Damage is data: a chunk that fails its checks becomes a REC_LOST on its CPU with the count
 * from its header, and trace_reader_damage() says so in words.
 */
#ifndef ISPOT_TRACE_READ_READER_H
#define ISPOT_TRACE_READ_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct meta;
struct record;
struct source;
struct trace_reader;

/*
 * Errors, each one sentence: -ENOENT no file (name `ispot record`); -ENODATA empty;
 * -EINVAL not an ispot.data (says what it looks like: perf.data, ELF, text);
 * -EPROTO of another version (names both versions).
 * A truncated file opens; see trace_reader_damage(). path "-": standard input.
 */
int trace_reader_open(struct trace_reader **r, const char *path, struct err *err);
/* Takes over the source, even on failure. name: for messages. */
int trace_reader_open_source(struct trace_reader **r, struct source *source, const char *name,
			     struct err *err);
/* data stays the caller's and must live as long as the reader. */
int trace_reader_open_memory(struct trace_reader **r, const void *data, size_t n, struct err *err);

const struct meta *trace_reader_meta(const struct trace_reader *r);

/*
 * Calls line() for each meta line as it is in the file, unknown kinds included. s is not
 * NUL-terminated and has no newline.
 */
void trace_reader_each_meta_line(struct trace_reader *r,
				 void (*line)(void *user, const char *s, size_t n), void *user);

/* 1: *rec filled, its pointers valid until the next call; 0: end. */
int trace_reader_next(struct trace_reader *r, struct record *rec);
/*
 * Reads the same stream many records at a time, without a copy. Returns how many are at *records,
 * valid until the next call; 0: end. The times of a CPU's records go back if they do in the trace.
 */
size_t trace_reader_batch(struct trace_reader *r, const struct record **records);
void trace_reader_rewind(struct trace_reader *r);

/* Returns the share of the file that has been read, 0..1, for progress. */
double trace_reader_position(const struct trace_reader *r);

/*
 * NULL, or what is wrong with the file: "cut off after 12.3s (recorder killed?); …". Damage
 * inside of chunks is found when they are read: ask again at the end. Valid until the next call.
 */
const char *trace_reader_damage(struct trace_reader *r);
uint64_t
trace_reader_first_ns(const struct trace_reader *r); /* of all records; 0: there are none */
uint64_t trace_reader_last_ns(const struct trace_reader *r);
uint64_t
trace_reader_records(const struct trace_reader *r); /* of all kinds, by the chunk headers */

void trace_reader_free(struct trace_reader *r); /* NULL is fine */

#endif
