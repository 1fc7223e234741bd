/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The low-rate CPU samples inside the calls of each block, with the final duration of the call and
 * the stack of the thread. They show what slow calls do that fast ones do not (lines, callees), and
 * whether the calls spin. A visitor. A bounded number of samples of a block is kept, chosen at
 * random.
 *
 * A sample stands for its weight in CPU time, so a code location's time per call is samples *
 * weight / calls, with the interval of a Poisson count. This compares slow with fast calls: fast
 * calls are short and rarely sampled, but there are many, so even little time in them is known
 * well.
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
#define SAMPLES_PENDING	 4096 /* samples of a thread in open calls */
#define SAMPLES_MIN	 8    /* in slow calls: fewer are no evidence */

/* Samples in the block's own code, when no traced callee was open. */
struct block_samples {
	uint32_t slow, fast;		   /* samples in calls from p90 on, and in calls up to
					    * the median */
	uint32_t slow_spins;		   /* samples of slow calls that wait for a lock without
					    * sleeping */
	uint32_t slow_at_barrier;	   /* samples of slow calls that wait so at a barrier; they
					    * are not in slow_spins */
	const struct meta_frame *spins_at; /* the most frequent place of slow_spins; NULL: none */
	const struct meta_frame *loop_at;  /* a frame of the block itself in the loop that has
					    * most of own_ns; NULL: none */
	uint64_t own_ns, loop_ns;	   /* CPU time in timed calls, and its part in the loop
					    * of loop_at */
	uint32_t own;			   /* number of samples in own_ns */
	uint64_t kernel_ns;		   /* part of own_ns in the kernel */
	uint64_t faults_ns;		   /* part of kernel_ns, most likely in page faults */
	uint64_t fast_faults_ns;	   /* part of faults_ns in calls up to the median */
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
