/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Chooses the size of the rings of threads that are timed in process. */
#ifndef ISPOT_PROBES_INJECT_RINGBYTES_H
#define ISPOT_PROBES_INJECT_RINGBYTES_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct inject_targets;
struct session_options;
struct trace_writer;

struct ring_bytes {
	uint64_t n;	 /* bytes of a thread's ring, a power of two */
	uint64_t most;	 /* bytes that all rings together may keep */
	bool has_shrunk; /* n is less than the wanted size */
};

/*
 * Chooses the size of a ring: the wanted one, or a default that depends on the memory of this
 * machine and of the program's cgroup. Every thread may have a ring, so the rings of a program that
 * may lock all its memory are small. Returns 0, or -ENOTSUP if such a program could not lock its
 * memory in addition to the rings. is_limited: threads keep a budget.
 */
int ring_bytes_choose(struct ring_bytes *b, const struct session_options *o,
		      const struct inject_targets *targets, bool is_limited, struct err *err);
/* Notes for the user and in the file that the rings are smaller than wanted, if they are. */
void ring_bytes_report(const struct ring_bytes *b, struct trace_writer *w);

#endif
