/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A recording along time: durations by slice (slices.h), the stretches in which records may be
 * missing, and those in which no probe was in (pauses of bursts). Two visitors.
 */
#ifndef ISPOT_ANALYSIS_RESULT_TIMELINE_H
#define ISPOT_ANALYSIS_RESULT_TIMELINE_H

#include <stdint.h>

#include "analysis/result/slices.h"
#include "base/vec.h"

struct timeline_loss {
	uint64_t from_ns, to_ns, count; /* count: records known to be missing */
};

#define TIMELINE_LOSSES_MAX 4096 /* further ones widen the last */

struct timeline {
	struct slices slices;
	struct {
		VEC(struct timeline_loss)
	} losses;
	uint64_t last_loss; /* its number: one loss is told once per thread */
	struct {
		VEC(struct timeline_loss)
	} pauses;
	uint32_t sets_on;
	uint64_t paused_ns; /* since when; 0: not */
};

/* Both are to be added. */
struct call_visitor timeline_calls(struct timeline *t);
struct call_visitor timeline_losses(struct timeline *t);
void timeline_release(struct timeline *t);

#endif
