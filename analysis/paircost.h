/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a traced call costs, per function, from the trace's calibration rows: the row of the
 * function's probe class and exit mechanism, measured with the most similar number of threads.
 * Corrections use the mean of the rows from before and after the run, floors the worse of them.
 * A function without a row has known false and zeros: nothing is corrected, its floor is n/a.
 */
#ifndef ISPOT_ANALYSIS_PAIRCOST_H
#define ISPOT_ANALYSIS_PAIRCOST_H

#include <stdbool.h>
#include <stdint.h>

struct meta;
struct meta_function;

struct paircost {
	bool known;
	uint64_t full_ns;  /* median that one traced call adds to its caller */
	uint64_t inner_ns; /* median that an empty call shows as its duration */
	uint64_t inner_min_ns, inner_p99_ns;
	double jitter_ns; /* mean - min of an empty call, the worse of before and after */
};

/* threads: how many the program ran. Fills *cost. */
void paircost_of(const struct meta *meta, const struct meta_function *f, uint32_t threads,
		 struct paircost *cost);
/* The thread count to look for: what the recorder knew of, 0 if nothing (then the largest row). */
uint32_t paircost_threads(const struct meta *meta);

#endif
