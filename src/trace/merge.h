/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Merges many streams into one time order, with a tournament tree of their next times: of each two
 * the earlier wins, in a tie the lower `who`. A stream's new time is compared on every level up to
 * the root. This takes the same steps whoever wins, as the winner is unpredictable with more than
 * two CPUs.
 */
#ifndef ISPOT_TRACE_MERGE_H
#define ISPOT_TRACE_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct merge_key {
	uint64_t time_ns;
	uint64_t who; /* what the caller knows the stream by; UINT64_MAX: none */
};

struct merge {
	/*
	 * [1] is the winner; the children of [i] are [2 * i] and [2 * i + 1]; the streams are the
	 * leaves, from [leaves] on.
	 */
	struct merge_key *nodes;
	size_t leaves;
};

/* room: the number of streams. */
void merge_init(struct merge *m, size_t room);
void merge_release(struct merge *m);
/* Removes all streams. */
void merge_clear(struct merge *m);

static inline struct merge_key merge_first(const struct merge *m)
{
	return m->nodes[1];
}

static inline bool merge_is_empty(const struct merge *m)
{
	return m->nodes[1].who == UINT64_MAX;
}

/* One comparison of 128 bits instead of two with a branch. */
static inline bool merge_before(const struct merge_key *a, const struct merge_key *b)
{
	unsigned __int128 x = (unsigned __int128)a->time_ns << 64 | a->who;
	unsigned __int128 y = (unsigned __int128)b->time_ns << 64 | b->who;

	return x < y;
}

/* Sets the next time of stream i, counted from 0. Returns the key of the earliest stream. */
static inline struct merge_key merge_set(struct merge *m, size_t i, uint64_t time_ns, uint64_t who)
{
	struct merge_key key = { time_ns, who };

	i += m->leaves;
	m->nodes[i] = key;
	for (; i > 1; i /= 2) {
		const struct merge_key *other = &m->nodes[i ^ 1];
		uint64_t wins = -(uint64_t)merge_before(other, &key);

		key.time_ns ^= (key.time_ns ^ other->time_ns) & wins;
		key.who ^= (key.who ^ other->who) & wins;
		m->nodes[i / 2] = key;
	}
	return key;
}

/* Removes stream i, which has ended. */
static inline void merge_end(struct merge *m, size_t i)
{
	merge_set(m, i, UINT64_MAX, UINT64_MAX);
}

#endif
