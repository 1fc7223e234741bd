/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/cause/by_solo.h"

#include <inttypes.h>
#include <math.h>

#include "analysis/score/block.h"
#include "analysis/score/pools.h"
#include "analysis/score/sci.h"
#include "base/text.h"
#include "trace/meta/meta.h"

#define ERRORS_SURE 3 /* standard errors; many, because there are many blocks */

/*
 * Takes the time by which calls outside of the windows exceed the mean of those inside. Calls
 * differ in their work inside the windows as well, so only that part is due to other threads.
 */
double cause_solo(const struct block *b, const struct meta *meta, double rest_ns,
		  struct text *evidence)
{
	double n = block_weight_calls(b) * (double)b->sums->own_timed;
	double alone_ns = b->solo.own_ns + ERRORS_SURE * b->solo.own_error_ns, ns;
	char alone[TEXT_NUMBER], beside[TEXT_NUMBER];

	(void)meta;
	if (b->sums->solo.own_calls < SOLO_CALLS_MIN || b->self_min_ns == BLOCK_NONE)
		return 0;
	ns = b->pools[POOL_RUNNING] - n * (alone_ns - (double)b->self_min_ns);
	if (!(ns > 0))
		return 0;
	text_printf(evidence,
		    "running time of a call: %s while no other thread of the program ran (%" PRIu64
		    " calls in windows of --solo), %s otherwise",
		    text_time(alone, (uint64_t)llround(b->solo.own_ns)), b->sums->solo.own_calls,
		    text_time(beside, (uint64_t)llround((double)b->self_min_ns +
							b->pools[POOL_RUNNING] / n)));
	if (b->solo.is_fastest && !isnan(b->solo.sci_without))
		text_printf(evidence, "; without --solo its slowdown score would be %.2f",
			    b->solo.sci_without);
	return fmin(ns, rest_ns);
}
