/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The cost of a traced call, per function, from the calibration rows of the trace: the row of the
 * function's probe class and exit mechanism, measured with the most similar number of threads.
 * Corrections use the mean of the rows from before and after the run, floors the worse of them. A
 * function without a row has known false and zeros: nothing is corrected, its floor is n/a.
 */
#ifndef ISPOT_ANALYSIS_CALLS_PAIRCOST_H
#define ISPOT_ANALYSIS_CALLS_PAIRCOST_H

#include <stdbool.h>
#include <stdint.h>

struct meta;
struct meta_function;

struct paircost {
	bool known;
	uint64_t full_ns;  /* median that one traced call adds to its caller */
	uint64_t inner_ns; /* median that an empty call shows as its duration */
	uint64_t outer_ns; /* full less inner: before its entry and behind its exit */
	uint64_t inner_min_ns, inner_p99_ns;
	double jitter_ns; /* mean - min of an empty call, less outliers, the worse of before and
			     after */
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
unsigned paircosts_nearest(const struct paircosts *p, uint32_t threads); /* index of a table */
void paircosts_release(struct paircosts *p);

#endif
