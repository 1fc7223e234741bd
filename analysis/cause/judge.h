/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The judge takes scored blocks and what was recorded beside their calls, and comes to what is said
 * of each: whom its slow calls met, where they spent their time, whether its work varies, its
 * verdict and its causes. Scores are not touched, but for what turns out to be nobody's
 * interference.
 */
#ifndef ISPOT_ANALYSIS_CAUSE_JUDGE_H
#define ISPOT_ANALYSIS_CAUSE_JUDGE_H

#include <stdint.h>

struct blocks;
struct coactivity;
struct meta;
struct samples;

struct evidence {
	const struct meta *meta;
	uint64_t duration_ns;	       /* of the recording or window */
	struct coactivity *coactivity; /* NULL: not looked at */
	const struct samples *samples; /* the same */
	/*
	 * For groups of calls: the blocks of their functions, which know more; NULL: the blocks are
	 * functions.
	 */
	const struct blocks *whole;
};

void blocks_judge(struct blocks *blocks, const struct evidence *e);

#endif
