/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Is something active during a block's slow calls more than during its fast ones? Over a sample of
 * its calls, each with the rate (co-active ns per ns of the call) of everything that was active.
 *
 * fast   calls up to the median; where that is slow itself, only those nearer to the fastest than
 *	   to the slowest tenth, but LIFT_FAST_MIN at least
 * slow   the slowest tenth
 *
 * in time not spent waiting for a CPU; for candidates that take the CPU, in all of it. Rates, not
 * sums, because a slow call is longer and meets more of everything. A group's rate is weighted by
 * the calls' lengths; no call weighs more than LIFT_WEIGHT_MAX times the shortest slow one.
 * lift is the slow rate over the fast rate. Where slow calls sleep, their CPU is free for others,
 * who run more without being a reason: the fast rate is first raised by what that explains, the
 * rise of all other threads' running, at most cpus / (cpus - 1).
 *
 * Intervals: Wilson's on both rates, with an effective number of calls. Calls near in time see the
 * same activity, so the recording is cut into LIFT_BATCHES stretches, and the variance between
 * them over that of independent calls divides the number of calls. The quantile is Student's, for
 * so many stretches, at 0.05 / pairs (Bonferroni): the claim is that *none* of the pairs tried is
 * named by chance in 19 recordings of 20, which the false discovery rate of Benjamini and Hochberg
 * does not promise once one true pair is among them. Pairs that met in fewer than LIFT_SUPPORT_MIN
 * calls could not be named whatever those calls were, so they do not count as tried (Tarone).
 */
#ifndef ISPOT_ANALYSIS_EVIDENCE_LIFT_H
#define ISPOT_ANALYSIS_EVIDENCE_LIFT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

#define LIFT_BATCHES	 24
#define LIFT_SLOW_MIN	 12
#define LIFT_FAST_MIN	 60
#define LIFT_WEIGHT_MAX	 8
#define LIFT_SUPPORT_MIN 8
#define LIFT_SHARE_MIN	 0.1 /* of the slow calls' time: less names nobody */

struct lift_cell {
	uint32_t candidate;
	float rate;
};

struct lift_row {
	uint64_t duration_ns;
	uint64_t seen_ns;   /* part of it: not waiting for a CPU; > 0 */
	uint64_t asleep_ns; /* part of seen_ns */
	uint32_t first, n;  /* its cells */
	uint32_t group;	    /* of the function's calls; MAP_NONE: in none */
};

/* A sample of one block's calls, in time order. */
struct lift_sample {
	struct {
		VEC(struct lift_row)
	} rows;
	struct {
		VEC(struct lift_cell)
	} cells;
};

struct lift {
	uint32_t candidate;
	double lift, low, high; /* high: INFINITY where the fast rate may be 0 */
	double share; /* of the slow calls' time: co-activity beyond what fast calls have */
	double slow_rate, fast_rate;
};

struct lifts {
	VEC(struct lift)
};

/* What is asked about the candidates 0 … n - 1. */
struct lift_question {
	uint32_t n;
	const uint8_t *takes_cpu; /* [candidate]: its rates are of the whole duration */
	uint32_t running;	  /* stands for any other thread running, never named; n: none */
	uint32_t cpus;		  /* that the program ran on */
	uint64_t pairs;		  /* tried, over all blocks */
};

/* Candidates met in LIFT_SUPPORT_MIN of the sample's calls; 0 with too few calls to compare. */
uint32_t lift_pairs(const struct lift_sample *s, uint32_t n);
bool lift_enough(const struct lift_sample *s);

/* Those whose interval says more active in slow calls, largest share first. */
void lift_find(const struct lift_sample *s, const struct lift_question *q, struct lifts *out);

#endif
