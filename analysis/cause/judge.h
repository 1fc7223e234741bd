/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The judge takes scored blocks and what was recorded beside their calls, and decides what to
 * report about each: what ran concurrently with its slow calls, where they spent their time,
 * whether its work varies, its verdict and its causes. Scores stay the same, except that time which
 * turns out not to be interference is taken out of the lost time.
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
	struct coactivity *coactivity; /* NULL: not recorded */
	const struct samples *samples; /* NULL: not recorded */
	/*
	 * For groups of calls: the blocks of their functions, which have more evidence. NULL: the
	 * blocks are functions.
	 */
	const struct blocks *whole;
};

void blocks_judge(struct blocks *blocks, const struct evidence *e);

#endif
