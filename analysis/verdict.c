/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "analysis/block.h"

static double pools_sum(const struct block *b)
{
	double sum = 0;

	for (unsigned p = 0; p < CAUSE_POOLS; p++)
		sum += b->pools[p];
	return sum;
}

static bool waits_for_work(const struct block *b)
{
	return b->pools[POOL_IDLE] > pools_sum(b) / 2;
}

static bool mostly_untimed(const struct block *b)
{
	return b->untimed_calls > b->calls / 2;
}

enum verdict block_verdict(const struct block *b)
{
	if (b->timed_calls < CALLS_MIN)
		return mostly_untimed(b) && b->calls >= CALLS_MIN ? VERDICT_CANNOT_TELL
								  : VERDICT_TOO_FEW_CALLS;
	if (isnan(b->sci) || mostly_untimed(b))
		return VERDICT_CANNOT_TELL;
	if (b->never_fast && b->sci < SCI_LOW)
		return VERDICT_CANNOT_TELL;
	if (b->sci <= 0 || b->sci < FLOOR_FACTOR * b->floor)
		return VERDICT_NOISE;
	if (isnan(b->floor) && b->sci < SCI_LOW)
		return VERDICT_CANNOT_TELL;
	if (waits_for_work(b))
		return VERDICT_IDLE;
	if (b->work.by != WORK_UNPROVEN)
		return VERDICT_WORKLOAD;
	if (b->estimated_calls != BLOCK_NONE && b->sci_low <= 0)
		return VERDICT_CANNOT_TELL;
	return VERDICT_INTERFERENCE;
}
