/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A recording along time: durations by slice (slices.h), the periods in which events may have been
 * dropped, and those without any probe (pauses of bursts). Two visitors collect them.
 */
#ifndef ISPOT_ANALYSIS_RESULT_TIMELINE_H
#define ISPOT_ANALYSIS_RESULT_TIMELINE_H

#include <stdint.h>

#include "analysis/result/slices.h"
#include "base/vec.h"

struct timeline_loss {
	uint64_t from_ns, to_ns, count; /* count: records known to be missing */
};

#define TIMELINE_LOSSES_MAX 4096 /* further losses widen the last one */

struct timeline {
	struct slices slices;
	struct {
		VEC(struct timeline_loss)
	} losses;
	uint64_t last_loss; /* its number: each thread receives the same loss once */
	struct {
		VEC(struct timeline_loss)
	} pauses;
	uint32_t sets_on;
	uint64_t paused_ns;    /* when the pause began; 0: no pause */
	uint64_t unwatched_ns; /* the same of a time without records of switches */
};

/* Both visitors must be added. */
struct call_visitor timeline_calls(struct timeline *t);
struct call_visitor timeline_losses(struct timeline *t);
void timeline_release(struct timeline *t);

#endif
