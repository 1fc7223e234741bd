/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The cost of a traced call, per function, from the calibration rows of the recording: those of the
 * function's probe class and exit mechanism that were measured with the most similar number of
 * threads. Corrections use the mean of the rows from before and after the run, floors use the
 * larger value. A function without a row has known == false and zeros: its times are not corrected,
 * and its noise floor is not known.
 */
#ifndef ISPOT_ANALYSIS_CALLS_PAIRCOST_H
#define ISPOT_ANALYSIS_CALLS_PAIRCOST_H

#include <stdbool.h>
#include <stdint.h>

struct meta;
struct meta_function;

struct paircost {
	bool known;
	uint64_t full_ns;  /* median time that one traced call adds to its caller */
	uint64_t inner_ns; /* median duration that an empty call appears to have */
	uint64_t outer_ns; /* full_ns - inner_ns: before the entry and after the exit */
	uint64_t inner_min_ns, inner_p99_ns;
	double jitter_ns; /* mean - min of an empty call without outliers, the larger of before
			   * and after the run */
};

/* Costs of all functions for each thread count that was calibrated. */
#define PAIRCOST_TABLES_MAX 8
struct paircosts {
	unsigned n; /* at least 1 */
	struct paircost_table {
		uint32_t threads;
		struct paircost *costs; /* [function id] */
	} tables[PAIRCOST_TABLES_MAX];
};

void paircosts_init(struct paircosts *p, const struct meta *meta);
/* Returns the index of the table for the nearest number of threads. */
unsigned paircosts_nearest(const struct paircosts *p, uint32_t threads);
void paircosts_release(struct paircosts *p);

#endif
