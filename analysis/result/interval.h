/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The blocks of a part of a recording that is still being read: the same sums as the whole's,
 * begun anew for each part, against the fastest calls of the whole so far. A call counts in the
 * part in which it ends, with all its time; so the scores of a part may be above 1.
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

/* After result_begin(); must stay where it is until the result is ended or released. */
void interval_init(struct interval *iv, struct result *whole);
/*
 * Returns the blocks of the calls that ended in the current interval, which lasts until now. The
 * caller releases them before the next interval begins there.
 */
void interval_blocks(struct interval *iv, uint64_t now_ns, struct blocks *blocks);
void interval_next(struct interval *iv);
void interval_release(struct interval *iv);

#endif
