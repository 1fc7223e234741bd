/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The low-rate samples inside the calls of each block: which of its calls, how long that one took
 * in the end, and where the thread was. What slow calls do that fast ones do not (lines, callees),
 * and whether they spin, comes from here. A visitor; what is kept of a block is bounded, at random.
 *
 * A sample stands for so much CPU time that a place's time per call is samples * weight / calls,
 * with the interval of a Poisson count. Slow and fast calls are compared by it: fast calls are
 * short and rarely sampled, but there are many, so that little time in them is known well.
 */
#ifndef ISPOT_ANALYSIS_EVIDENCE_SAMPLES_H
#define ISPOT_ANALYSIS_EVIDENCE_SAMPLES_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/calls/calls.h"
#include "base/vec.h"

struct meta;
struct meta_frame;

#define SAMPLES_OF_BLOCK 4096
#define SAMPLES_PENDING	 4096 /* of a thread, in calls that have not ended */
#define SAMPLES_MIN	 8    /* in slow calls: fewer say nothing */

/* Samples in the block's own code: no traced callee was open. */
struct block_samples {
	uint32_t slow, fast;		   /* in calls from p90 on, and up to the median */
	uint32_t slow_spins;		   /* in a loop around a pause instruction */
	const struct meta_frame *spins_at; /* the most frequent place of slow_spins; NULL: none */
	const struct meta_frame *loop_at;  /* the block's own, in the loop it is in mostly; NULL */
	uint64_t own_ns, loop_ns;	   /* CPU time in timed calls, and of it there */
	uint32_t own;			   /* samples that own_ns is made of */
	uint64_t kernel_ns;		   /* of own_ns */
};

struct sample_row {
	uint64_t duration_ns; /* of the call */
	uint64_t weight_ns;
	uint32_t stack; /* 0: not known */
	bool own;	/* the block was the innermost traced function */
	bool kernel;
};

struct samples_function {
	uint64_t seen;
	struct {
		VEC(struct sample_row)
	} rows;
};

struct samples {
	const struct calls *calls;
	struct {
		VEC(struct samples_thread)
	} threads;			    /* [thread index] */
	struct samples_function *functions; /* [function id] */
	uint64_t random;
};

void samples_init(struct samples *s, const struct calls *calls);
struct call_visitor samples_visitor(struct samples *s);
/* Returns the innermost frame of a sample, or NULL if its stack is not known. */
const struct meta_frame *samples_innermost(const struct meta *meta, const struct sample_row *row);
void samples_release(struct samples *s);

#endif
