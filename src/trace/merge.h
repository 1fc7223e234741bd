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
/* The first stream has ended. */
void merge_pop(struct merge *m);

/* One comparison of 128 bits instead of two with a branch that nobody can predict. */
static inline bool merge_before(const struct merge_key *a, const struct merge_key *b)
{
	unsigned __int128 x = (unsigned __int128)a->time_ns << 64 | a->index;
	unsigned __int128 y = (unsigned __int128)b->time_ns << 64 | b->index;

	return x < y;
}

/* On a tie the lower index goes first; second is not before us, so its time 0 is a tie. */
static inline uint64_t merge_limit_by(const struct merge *m, const struct merge_key *second)
{
	return m->keys[0].index < second->index ? second->time_ns : second->time_ns - 1;
}

/* What is not inline: two streams are the most common case. */
uint64_t merge_limit_of_many(const struct merge *m); /* more than two */
void merge_sink(struct merge *m, uint64_t time_ns);  /* any number but two */

/* The latest time up to which the first stream goes before all others. Meaningless if n is 0. */
static inline uint64_t merge_limit(const struct merge *m)
{
	if (m->n == 2)
		return merge_limit_by(m, &m->keys[1]);
	return m->n < 2 ? UINT64_MAX : merge_limit_of_many(m);
}

/* The first stream's next time has become time_ns. */
static inline void merge_replace(struct merge *m, uint64_t time_ns)
{
	const struct merge_key key = { time_ns, m->keys[0].index };

	if (m->n != 2) {
		merge_sink(m, time_ns);
	} else if (merge_before(&m->keys[1], &key)) {
		m->keys[0] = m->keys[1];
		m->keys[1] = key;
	} else {
		m->keys[0] = key;
	}
}

#endif
