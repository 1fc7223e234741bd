/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compares the samples of a block's slow calls with those of its fast ones: lines and callees. */
#ifndef ISPOT_ANALYSIS_CAUSE_SAMPLES_COMPARE_H
#define ISPOT_ANALYSIS_CAUSE_SAMPLES_COMPARE_H

#include <stdint.h>

#include "base/vec.h"

struct block;
struct meta_frame;
struct samples;

/* One place: a line, or a function called from the block. */
struct place {
	const struct meta_frame *frame; /* of a line; a function: any of its frames; NULL: kernel */
	uint32_t slow, fast;		/* samples */
	double slow_ns, fast_ns;	/* per call */
	double slow_low_ns, slow_high_ns, fast_high_ns;
	double share; /* of all time that slow calls take longer than fast ones */
};

struct places {
	VEC(struct place)
};

struct differences {
	uint32_t slow, fast;	      /* samples in slow and in fast calls */
	struct places lines, callees; /* more time in slow calls, beyond chance; most first */
};

/* slow_calls and fast_calls: how many the block has; difference_ns: of their mean CPU times. */
void samples_compare(const struct samples *s, const struct block *b, uint64_t slow_calls,
		     uint64_t fast_calls, double difference_ns, struct differences *d);
void differences_release(struct differences *d);

#endif
