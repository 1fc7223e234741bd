/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Many streams in one time order: a heap of the streams' next times, four children a node (three
 * levels hold 64 CPUs). Ties go to the lower index. The runner-up is known without a search, so a
 * stream is read up to its time before the heap is touched again.
 */
#ifndef ISPOT_TRACE_MERGE_H
#define ISPOT_TRACE_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct merge_key {
	uint64_t time_ns;
	uint64_t index; /* of the stream */
};

struct merge {
	struct merge_key
		*keys; /* keys[0]: the earliest; behind the last three that are never first */
	size_t n, room;
};

void merge_init(struct merge *m, size_t room);
void merge_release(struct merge *m);
void merge_clear(struct merge *m);

void merge_add(struct merge *m, uint64_t time_ns, uint32_t index);
/* The first stream's next time has become time_ns. */
void merge_replace(struct merge *m, uint64_t time_ns);
/* The first stream has ended. */
void merge_pop(struct merge *m);

/* The latest time up to which the first stream goes before all others. Meaningless if n is 0. */
uint64_t merge_limit(const struct merge *m);

#endif
