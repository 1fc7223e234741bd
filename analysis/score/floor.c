/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "analysis/calls/paircost.h"
#include "analysis/score/block.h"
#include "analysis/score/floor.h"
#include "analysis/score/pools.h"
#include "analysis/score/sci.h"

/*
 * A probe's cost varies more in a program than in a loop of empty calls, for which caches and
 * branch predictors are warm. In functions that always take the same time, the mean call is slower
 * than the fastest one by this part of an empty call, or more (tests/live/noise.t prints it).
 * Scores under twice the floor are noise.
 */
#define PROBE_VARIES 0.2

/* Returns by how much the fastest call is shorter than the calibrated minimum of its probe. No call
 * is shorter than its probe, so such a call shows the probe's true minimum. */
static double below_calibrated_ns(const struct block *b)
{
	uint64_t least = b->cost->inner_min_ns;

	return b->sums->min_ns < least ? (double)(least - b->sums->min_ns) : 0;
}

/*
 * Returns how many traced calls were inside for each recorded one. With sampling, the probes of
 * calls that were not recorded ran, too. Their cost is still in the durations, because it is not
 * known in which call they were.
 */
static double left_out(const struct block *b)
{
	return b->period > 1 ? (double)b->period : 1;
}

double floor_jitter_ns(const struct block *b)
{
	double calls = (double)b->sums->durations.count;
	double probes = calls + (double)b->sums->inside * left_out(b);

	return block_weight_outer(b) *
	       (probes * b->cost->jitter_ns + calls * below_calibrated_ns(b));
}

double floor_probe_share(const struct block *b)
{
	const struct sci_function *f = b->sums;
	double off = (double)offcpu_ns(&f->off);
	double ran = (double)f->raw_ns - off;
	double probes = (double)f->durations.count * (double)b->cost->inner_ns +
			(double)f->inside_cost_ns * left_out(b);

	if (!(ran > 0))
		return probes > 0 ? 1 : 0;
	return probes < ran ? probes / ran : 1;
}

/* Returns the cost of the probes of calls that sampling left out. Durations include it, while the
 * cost of recorded calls was subtracted from them. */
static double left_out_probes_ns(const struct block *b)
{
	return (left_out(b) - 1) * (double)b->sums->inside_cost_ns;
}

double floor_interrupted_ns(const struct offcpu *off)
{
	return (double)(off->preempted_ns - off->woken_ns);
}

double floor_ns(const struct block *b)
{
	double least_ns = PROBE_VARIES * (double)b->cost->inner_min_ns, more_ns;

	if (!b->cost->known)
		return NAN;
	more_ns = fmax(0, least_ns - b->cost->jitter_ns - below_calibrated_ns(b));
	return floor_jitter_ns(b) +
	       block_weight_outer(b) * (double)b->sums->durations.count * more_ns +
	       block_weight_outer(b) * left_out_probes_ns(b) +
	       block_weight_outer(b) * floor_interrupted_ns(&b->sums->off) * floor_probe_share(b);
}
