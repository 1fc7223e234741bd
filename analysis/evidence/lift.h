/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Is something more active during a block's slow calls than during its fast ones? The input is a
 * sample of the block's calls, each with the rate (co-active ns per ns of the call) of everything
 * that was active.
 *
 * fast   calls up to the median; if the median is slow itself, only calls nearer to the fastest
 *	   than to the slowest tenth, but at least LIFT_FAST_MIN calls
 * slow   the slowest tenth
 *
 * Calls are ordered by their time without waits for a CPU; for candidates that take the CPU, by
 * their whole duration. Rates are compared, not sums, because a slow call is longer and meets more
 * of everything. The rate of the fast or the slow calls is weighted by the calls' lengths; no call
 * weighs more than LIFT_WEIGHT_MAX times the shortest slow one. The lift is the slow rate over the
 * fast rate. If slow calls sleep, their CPU is free for others, which then run more without being a
 * cause. So the fast rate is first raised by that: the rise of all other threads' running time, at
 * most cpus / (cpus - 1).
 *
 * If most slow calls are made by threads that make no fast ones, nothing is compared: such threads
 * do something else, and what runs beside them is different for that reason. (A producer's calls
 * never meet the producer itself, and a consumer's do.)
 *
 * The intervals are Wilson's on both rates, with an effective number of calls. Calls near in time
 * see the same activity, so the recording is cut into LIFT_BATCHES stretches, and the number of
 * calls is divided by the variance between the stretches over that of independent calls. The
 * quantile is Student's, for this number of stretches, at 0.05 / pairs (Bonferroni): in 19
 * recordings of 20, *none* of the pairs that were tried is reported by chance. The false discovery
 * rate of Benjamini and Hochberg does not promise that once one true pair is among them. Pairs that
 * met in fewer than LIFT_SUPPORT_MIN calls could not be significant in any case, so they do not
 * count as tried (Tarone).
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
#define LIFT_SHARE_NEAR	 0.5 /* of the largest share: as much as it, but more or less specific */
#define LIFT_SHARE_MIN	 0.1 /* of the slow calls' time: no candidate with less is reported */

struct lift_cell {
	uint32_t candidate;
	float rate;
};

struct lift_row {
	uint64_t duration_ns;
	uint64_t seen_ns;   /* part of duration_ns not spent waiting for a CPU; > 0 */
	uint64_t asleep_ns; /* part of seen_ns */
	uint32_t first, n;  /* its range in cells */
	uint32_t group;	    /* group of the call; MAP_NONE: none */
	uint32_t thread;    /* index of the thread that made the call */
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
	double lift, low, high; /* bounds of lift; high: INFINITY if the fast rate may be 0 */
	double share; /* part of the slow calls' time with more co-activity than in fast calls */
	double slow_rate, fast_rate;
};

struct lifts {
	VEC(struct lift)
};

/* The comparison of the candidates 0 … n - 1. */
struct lift_question {
	uint32_t n;
	const uint8_t *takes_cpu; /* [candidate]: it takes the CPU, so its rates refer to the
				   * whole duration */
	uint32_t running;	  /* candidate that stands for any other running thread and is
				   * never reported; n: none */
	uint32_t cpus;		  /* CPUs that the program ran on */
	uint64_t pairs;		  /* sum of lift_pairs() over all blocks */
};

/* Returns the number of candidates that at least LIFT_SUPPORT_MIN of the sample's calls met, or 0
 * if there are too few calls for a comparison. */
uint32_t lift_pairs(const struct lift_sample *s, uint32_t n);
bool lift_enough(const struct lift_sample *s);

/*
 * Appends the candidates that are significantly more active in slow calls: first those that have at
 * least LIFT_SHARE_NEAR of the largest share, in the order of the lift's lower bound, then the
 * others, the largest share first.
 */
void lift_find(const struct lift_sample *s, const struct lift_question *q, struct lifts *out);

#endif
