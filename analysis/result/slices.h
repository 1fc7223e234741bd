/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Durations by slice of time: for each function the calls, and sums over them, in at most
 * SLICES_MAX slices of equal width that cover the recording. How much slices differ from each other
 * says how much a whole recording's mean can be trusted (batch means). A visitor; the width doubles
 * as the recording goes on.
 */
#ifndef ISPOT_ANALYSIS_RESULT_SLICES_H
#define ISPOT_ANALYSIS_RESULT_SLICES_H

#include <stdint.h>

#include "analysis/calls/calls.h"
#include "base/vec.h"

#define SLICES_MAX 64 /* even */

/* Off the CPU but able to run is what a machine makes of a program: also without it. */
enum slice_sum {
	SLICE_NS,	  /* durations */
	SLICE_SEEN_NS,	  /* without the time that the thread waited for a CPU */
	SLICE_SEEN_LOG,	  /* logarithms of those */
	SLICE_BLOCKED_NS, /* asleep or blocked */
	/* of calls alone that were hardly interrupted: behind a wakeup nothing was, and those that
	 * sleep for each other wait there, as short as it is */
	SLICE_QUIET_NS,
	SLICE_QUIET_LOG,
	SLICE_SUMS,
};

struct slice {
	uint64_t calls; /* timed, not inside another call of the function, by when they ended */
	uint64_t quiet; /* of them: that were interrupted for a part of SLICE_QUIET at most */
	double sum[SLICE_SUMS];
};

#define SLICE_QUIET 0.02

struct slice_row {
	struct slice at[SLICES_MAX];
};

struct slices {
	uint64_t start_ns, width_ns; /* start_ns 0: nothing seen yet */
	unsigned n;		     /* slices reached */
	struct {
		VEC(struct slice_row *)
	} rows; /* [function id]; NULL: no timed call */
};

/* A mean and what it is worth: variance of the mean, degrees of freedom. n 0: no call. */
struct slice_mean {
	uint64_t n;
	double mean, variance, df;
};

struct call_visitor slices_visitor(struct slices *s);

/* Returns one of the sums, per call that it was counted for. */
struct slice_mean slices_mean(const struct slices *s, uint32_t id, enum slice_sum what);
void slices_release(struct slices *s);

#endif
