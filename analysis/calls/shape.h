/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Paths through a function, distinguished by the hash of all traced calls inside, with their order
 * and nesting (the paper's sequences, section 3.3: every event from f_start to f_end). Each path
 * has its own fastest call. A function has SHAPES_MAX paths at most; calls of further paths share a
 * row and are compared with the fastest of them.
 */
#ifndef ISPOT_ANALYSIS_CALLS_SHAPE_H
#define ISPOT_ANALYSIS_CALLS_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/likely.h"

#define SHAPES_MAX  64
#define SHAPE_SLOTS 512 /* at most an eighth of them is in use */

struct shape {
	uint64_t hash, calls, sum_ns, min_ns;
};

/* Empty if zeroed. */
struct shapes {
	uint32_t n;
	uint8_t at[SHAPE_SLOTS];	   /* hash table with linear probing: index of rows; 0:
					    * free */
	struct shape rows[SHAPES_MAX + 1]; /* [0]: for all paths that did not fit */
};

/* Continues shapes_row() beyond the first slot of the hash; adds the row if it is new. */
struct shape *shapes_row_further(struct shapes *s, uint64_t hash);

/* Returns the path's row. Whether the slot is in use is unpredictable, so that is not a branch. */
static inline struct shape *shapes_row(struct shapes *s, uint64_t hash)
{
	uint32_t i = s->at[hash % SHAPE_SLOTS];
	bool is_new = !i & (s->n < SHAPES_MAX), is_other = (i != 0) & (s->rows[i].hash != hash);

	if (unlikely(is_new | is_other))
		return shapes_row_further(s, hash);
	return &s->rows[i];
}

static inline void shapes_add(struct shapes *s, uint64_t hash, uint64_t duration_ns)
{
	struct shape *shape = shapes_row(s, hash);

	if (!shape->calls++ || duration_ns < shape->min_ns)
		shape->min_ns = duration_ns;
	shape->sum_ns += duration_ns;
}

/* Returns the sum over all calls of (duration - fastest call of the same path). */
double shapes_excess_ns(const struct shapes *s);

#endif
