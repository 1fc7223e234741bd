/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The source lines of a place in the code. A place in a function that the compiler inlined has a
 * line in that function, and one in each function that it was inlined into.
 */
#ifndef ISPOT_ANALYSIS_IMBALANCE_COUNT_COUNTED_FRAME_H
#define ISPOT_ANALYSIS_IMBALANCE_COUNT_COUNTED_FRAME_H

#include <stdint.h>

#include "base/vec.h"

struct counted;
struct dso_cache;

/* A function and a line in it, as indices of run->names. */
struct counted_frame {
	uint32_t function, file, line;
};

/* The frames of a place, innermost first: inlined functions, each with its line, and last the
 * function that they were compiled into. */
struct counted_frames {
	VEC(struct counted_frame)
};

/* Adds the frames of a place of c->run, and their names to c->run. Released by vec_release(). */
void counted_frames_at(struct counted *c, uint32_t place, struct dso_cache *cache,
		       struct counted_frames *frames);

#endif
