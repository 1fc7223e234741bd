/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writes ispot.data. One encoder per CPU collects that CPU's records in a fixed buffer; a full
 * or old one is compressed as one frame and written out. After trace_writer_open() the put
 * functions and flush allocate nothing. An existing file is kept as FILE.old. Crash safety: what
 * was flushed is readable whatever happens next; the caller flushes at least once a second.
 *
 * Any write error (disk full, quota, closed pipe) is sticky: it is returned by every later call,
 * what was written stays readable, and nothing more is written but, on a full disk, the end line
 * and the table by close, into the room of the chunk that did not fit. Reaching max_bytes ends
 * records only: room was kept for the meta that comes at the end, and close is no failure then.
 *
 * Threads may put records at the same time if no two use the same CPU; flush and close are for
 * when nobody else is in here. The caller ignores SIGPIPE if path may be a pipe.
 */
#ifndef ISPOT_TRACE_WRITE_WRITER_H
#define ISPOT_TRACE_WRITE_WRITER_H

#include <stddef.h>
#include <stdint.h>

struct err;
struct live;
struct record;
struct trace_writer;

struct trace_writer_options {
	const char *path;     /* "-": standard output */
	uint32_t n_cpus;      /* encoders: highest CPU number + 1 */
	uint64_t max_bytes;   /* stop with -EFBIG when the file would exceed it; 0: no bound */
	int zstd_level;	      /* 0: the default, chosen by measurement */
	uint32_t chunk_bytes; /* body size at which a chunk is written, less in a small file; 0:
				 default */
	struct live *live;    /* NULL, or where records go instead of a file */
};

int trace_writer_open(struct trace_writer **w, const struct trace_writer_options *o,
		      struct err *err);

/* The hot path: entry or exit on a CPU. Records of one CPU come nearly in time order;
 * one that goes back in time is stored beside (CHUNK_LATE), readers see it in its place. 0 or the
 * sticky error. */
int trace_writer_call(struct trace_writer *w, uint32_t cpu, uint32_t kind, uint64_t time_ns,
		      uint32_t tid, uint32_t tgid, uint32_t id, uint64_t sp);
/* Any other kind, encoded by the rules of format.h; bytes beyond WRITER_BYTES_MAX are cut off. */
#define WRITER_BYTES_MAX 4096
int trace_writer_record(struct trace_writer *w, const struct record *r);

/* A meta line (a newline at its end is fine, none inside); buffered until the next flush or
 * full chunk, always written before records put later (the end line: last of all). Not part of the
 * hot path: may allocate. */
int trace_writer_meta(struct trace_writer *w, const char *line);

/* Writes out every encoder that holds anything, and pending meta lines. */
int trace_writer_flush(struct trace_writer *w, struct err *err);

uint64_t trace_writer_bytes(const struct trace_writer *w); /* on disk so far */
/* Entries + exits that are in the file or will be: what a failure dropped does not count. */
uint64_t trace_writer_records(const struct trace_writer *w);

/* Flushes, writes the seek table, closes. NULL is fine. Frees w even when it fails. */
int trace_writer_close(struct trace_writer *w, struct err *err);

#endif
