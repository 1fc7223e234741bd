/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How large the rings of threads are that are timed in process. */
#ifndef ISPOT_PROBES_INJECT_RINGBYTES_H
#define ISPOT_PROBES_INJECT_RINGBYTES_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct inject_targets;
struct trace_writer;

struct ring_bytes {
	uint64_t n;	 /* bytes of a thread's ring, a power of two */
	bool has_shrunk; /* n is less than what was wanted */
};

/*
 * Chooses the size of a ring. wanted: 0 for what this machine's memory allows. Each thread might
 * have a ring, so that those of a program which may lock all its memory are small. Returns 0, or
 * -ENOTSUP if such a program could not lock its memory beside them.
 */
int ring_bytes_choose(struct ring_bytes *b, uint64_t wanted, const struct inject_targets *targets,
		      struct err *err);
/* Tells the user and the file that the rings are smaller than wanted, if they are. */
void ring_bytes_note(const struct ring_bytes *b, struct trace_writer *w);

#endif
