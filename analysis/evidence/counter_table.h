/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Part of counters.c: sums of the calls' counter values by duration, and their means for fast and
 * slow calls once the bounds of these are known. */
#ifndef ISPOT_ANALYSIS_EVIDENCE_COUNTER_TABLE_H
#define ISPOT_ANALYSIS_EVIDENCE_COUNTER_TABLE_H

#include <stdint.h>

#include "analysis/evidence/counters.h"
#include "analysis/stat/hist.h"

/* Counter values of one call; mask: the counters that are known. */
struct counter_delta {
	uint32_t mask;
	uint64_t of[COUNTERS_MAX];
};

/* Sums for the regression of running time (y) on a counter's value (x). */
struct counter_line {
	double n, x, y, xx, xy, yy;
};

struct counter_table {
	struct counter_row *pages[HIST_PAGES]; /* [bucket of hist.h / HIST_PAGE]: HIST_PAGE rows;
						* NULL: no call */
	struct counter_line *lines;	       /* [counter id] */
	struct counter_line still; /* calls for which all counters that are written on change
				    * counted 0 */
};

void counter_table_add(const struct counters *c, struct counter_table *t, uint64_t ns,
		       uint64_t running_ns, const struct counter_delta *d);
/* Adds a call that counted 0 of every counter, all of which are written on change. */
void counter_table_add_still(const struct counters *c, struct counter_table *t, uint64_t ns,
			     uint64_t running_ns);
/* Returns the means, freed by the caller, or NULL if no call was counted. */
struct counter_summary *counter_table_summary(const struct counters *c,
					      const struct counter_table *t, uint64_t fast_max_ns,
					      uint64_t slow_min_ns);
void counter_table_release(struct counter_table *t);

#endif
