/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Compares the samples of a block's slow calls with those of its fast calls, by line and by callee.
 */
#ifndef ISPOT_ANALYSIS_CAUSE_SAMPLES_COMPARE_H
#define ISPOT_ANALYSIS_CAUSE_SAMPLES_COMPARE_H

#include <stdint.h>

#include "base/vec.h"

struct block;
struct meta_frame;
struct samples;

/* A place: a line, or a function called from the block. */
struct place {
	/* frame of the line, or any frame of the function; NULL: kernel */
	const struct meta_frame *frame;
	uint32_t slow, fast;	 /* samples */
	double slow_ns, fast_ns; /* per call */
	double slow_low_ns, slow_high_ns, fast_high_ns;
	double share; /* of the whole time by which slow calls exceed fast ones */
};

struct places {
	VEC(struct place)
};

struct differences {
	uint32_t slow, fast;	      /* samples in slow and in fast calls */
	struct places lines, callees; /* sorted by extra time in slow calls, beyond chance */
};

/*
 * slow_calls and fast_calls are the block's numbers of calls; difference_ns is that of their mean
 * CPU times.
 */
void samples_compare(const struct samples *s, const struct block *b, uint64_t slow_calls,
		     uint64_t fast_calls, double difference_ns, struct differences *d);
void differences_release(struct differences *d);

#endif
