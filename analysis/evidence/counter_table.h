/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Between the files of counters.h: what calls counted, summed up by their duration, and the means
 * of that once it is known which durations are fast and which slow.
 */
#ifndef ISPOT_ANALYSIS_EVIDENCE_COUNTER_TABLE_H
#define ISPOT_ANALYSIS_EVIDENCE_COUNTER_TABLE_H

#include <stdint.h>

#include "analysis/evidence/counters.h"
#include "analysis/stat/hist.h"

/* What one call counted. */
struct counter_delta {
	uint32_t mask;
	uint64_t of[COUNTERS_MAX];
};

/* Sums for a line of running time on a value. */
struct counter_line {
	double n, x, y, xx, xy, yy;
};

struct counter_table {
	struct counter_row *pages[HIST_PAGES]; /* by duration, HIST_PAGE rows each */
	struct counter_line *lines;	       /* [counter id] */
	struct counter_line still; /* of calls that counted 0 of all that are written on change */
};

void counter_table_add(const struct counters *c, struct counter_table *t, uint64_t ns,
		       uint64_t running_ns, const struct counter_delta *d);
/* A call that counted 0 of each, and all are written on change. */
void counter_table_add_still(const struct counters *c, struct counter_table *t, uint64_t ns,
			     uint64_t running_ns);
/* On the heap; NULL: no call was counted. */
struct counter_summary *counter_table_summary(const struct counters *c,
					      const struct counter_table *t, uint64_t fast_max_ns,
					      uint64_t slow_min_ns);
void counter_table_release(struct counter_table *t);

#endif
