/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The blocks of an interval of a recording that is still being read. They have the same sums as
 * those of the whole, which start at zero in each interval, and are compared with the fastest calls
 * of the whole so far. A call counts in the interval in which it ends, with all of its duration, so
 * the scores of an interval may be above 1.
 */
#ifndef ISPOT_ANALYSIS_RESULT_INTERVAL_H
#define ISPOT_ANALYSIS_RESULT_INTERVAL_H

#include <stdint.h>

#include "analysis/score/sci.h"

struct blocks;
struct result;

struct interval {
	struct result *whole;
	struct sci sums;
	uint64_t since_ns, until_ns;
};

/* Is called after result_begin(). iv must not move until the result is ended or released. */
void interval_init(struct interval *iv, struct result *whole);
/*
 * Returns the blocks of the calls that ended in the current interval, which lasts until now. The
 * caller releases them before the next interval begins there.
 */
void interval_blocks(struct interval *iv, uint64_t now_ns, struct blocks *blocks);
void interval_next(struct interval *iv);
void interval_release(struct interval *iv);

#endif
