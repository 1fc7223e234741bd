/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The causes that the sentence on a block names. Together they are most of the lost time: whoever
 * removes only the first one should expect the rest.
 */
#ifndef ISPOT_REPORT_SCREEN_TOLD_H
#define ISPOT_REPORT_SCREEN_TOLD_H

#include <stdbool.h>
#include <stddef.h>

struct block;
struct cause;

#define TOLD_MOST 3

struct told {
	const struct cause *causes[TOLD_MOST]; /* the largest first */
	size_t n;			       /* 0: no cause is large enough */
	double share;			       /* of the time that the block itself loses, 0..1 */
};

/* Whether the block is a sequence that owns lost time of its calls. */
bool report_owns(const struct block *b);
struct told report_told(const struct block *b);
/* Returns the largest cause, or NULL if none is large enough to name. */
const struct cause *report_main_cause(const struct block *b);
/* Returns the cause's share of the time that the block itself loses. The callees' lost time is
 * reported with the callees. */
double report_cause_share(const struct block *b, const struct cause *c);
/* Returns the part of a block's loss, without its callees', that its headline reports: 0..1. */
double report_told_share(const struct block *b);
/* Returns the pool with most of the block's own time, of enum cause_pool. */
unsigned told_largest_pool(const struct block *b);

#endif
