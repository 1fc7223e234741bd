/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Paths through a function, told apart by the hash of all traced calls inside, in order and as they
 * are nested (the paper's sequences, section 3.3: every event from f_start to f_end). Each has its
 * own fastest call. A function keeps SHAPES_MAX of them; calls of further paths are counted apart
 * and compared with the fastest of them all.
 */
#ifndef ISPOT_ANALYSIS_SHAPE_H
#define ISPOT_ANALYSIS_SHAPE_H

#include <stdint.h>

#define SHAPES_MAX 64

struct shape {
	uint64_t hash, calls, sum_ns, min_ns;
};

/* Zeroed: empty. */
struct shapes {
	uint32_t n;
	/* half of it stays free: looking ends */
	struct {
		uint8_t row;  /* index of rows + 1; 0: free */
		uint8_t tag;  /* of the hash: most other rows need not be looked at */
	} at[2 * SHAPES_MAX]; /* by hash */
	struct shape rows[SHAPES_MAX];
	struct shape rest; /* of all that did not fit */
};

/* The path's row, made if need be. */
struct shape *shapes_row(struct shapes *s, uint64_t hash);

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
