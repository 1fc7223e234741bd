/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Paths through a function, told apart by the hash of all traced calls inside, in order and as they
 * are nested (the paper's sequences, section 3.3: every event from f_start to f_end). Each has its
 * own fastest call. A function keeps SHAPES_MAX of them; calls of further paths are counted apart
 * and compared with the fastest of them all.
 */
#ifndef ISPOT_ANALYSIS_CALLS_SHAPE_H
#define ISPOT_ANALYSIS_CALLS_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/likely.h"

#define SHAPES_MAX  64
#define SHAPE_SLOTS 512 /* an eighth is taken at most */

struct shape {
	uint64_t hash, calls, sum_ns, min_ns;
};

/* Zeroed: empty. */
struct shapes {
	uint32_t n;
	uint8_t at[SHAPE_SLOTS];	   /* by hash, and on from there: index of rows; 0: free */
	struct shape rows[SHAPES_MAX + 1]; /* [0]: of all that did not fit */
};

/* The path's row, made if need be: where it is not the first to be looked at. */
struct shape *shapes_row_further(struct shapes *s, uint64_t hash);

/* Whether a path has a row cannot be foreseen, so that is no branch. */
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

/* Sum over the paths of (duration - the path's fastest). */
double shapes_excess_ns(const struct shapes *s);

#endif
