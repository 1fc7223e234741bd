/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Durations by slice of time: for each function the calls, and sums over them, in at most
 * SLICES_MAX slices of equal width that cover the recording. The differences between slices show
 * how far the mean of a whole recording can be trusted (method of batch means). A visitor fills the
 * slices; their width doubles as the recording goes on.
 */
#ifndef ISPOT_ANALYSIS_RESULT_SLICES_H
#define ISPOT_ANALYSIS_RESULT_SLICES_H

#include <stdint.h>

#include "analysis/calls/calls.h"
#include "base/vec.h"

#define SLICES_MAX 64 /* even */

/*
 * Time in the run queue depends on the machine rather than on the program, so some sums leave it
 * out.
 */
enum slice_sum {
	SLICE_NS,	  /* durations */
	SLICE_SEEN_NS,	  /* durations without the time in the run queue */
	SLICE_SEEN_LOG,	  /* logarithms of SLICE_SEEN_NS */
	SLICE_BLOCKED_NS, /* durations off the CPU, not runnable */
	/*
	 * sums over quiet calls only, those with hardly any run queue time except right after a
	 * wakeup. That wait counts, because threads that wake each other spend it, however short it
	 * is.
	 */
	SLICE_QUIET_NS,
	SLICE_QUIET_LOG,
	SLICE_SUMS,
};

struct slice {
	/* timed calls, not inside another call of the function, by the time of their exit */
	uint64_t calls;
	/*
	 * those of them in the run queue for a share of SLICE_QUIET at most, except after a wakeup
	 */
	uint64_t quiet;
	double sum[SLICE_SUMS];
};

#define SLICE_QUIET 0.02

struct slice_row {
	struct slice at[SLICES_MAX];
};

struct slices {
	uint64_t start_ns, width_ns; /* start_ns 0: no call yet */
	unsigned n;		     /* slices in use */
	struct {
		VEC(struct slice_row *)
	} rows; /* [function id]; NULL: no timed call */
};

/* A mean with its own variance and degrees of freedom. n 0: no call. */
struct slice_mean {
	uint64_t n;
	double mean, variance, df;
};

struct call_visitor slices_visitor(struct slices *s);

/* Returns the mean of one of the sums per call that it counted. */
struct slice_mean slices_mean(const struct slices *s, uint32_t id, enum slice_sum what);
void slices_release(struct slices *s);

#endif
