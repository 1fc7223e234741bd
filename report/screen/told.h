/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The causes that the sentence on a block names: those that together are most of what it loses, so
 * that nobody mends the first of them and wonders at the rest.
 */
#ifndef ISPOT_REPORT_SCREEN_TOLD_H
#define ISPOT_REPORT_SCREEN_TOLD_H

#include <stddef.h>

struct block;
struct cause;

#define TOLD_MOST 3

struct told {
	const struct cause *causes[TOLD_MOST]; /* the largest first */
	size_t n;			       /* 0: none tells it */
	double share;			       /* of what the block itself loses, 0..1 */
};

struct told report_told(const struct block *b);
/* The largest of them; NULL: none tells the block's story. */
const struct cause *report_main_cause(const struct block *b);
/* The cause's share of the time that the block loses itself: the callees' losses are reported with
 * the callees. */
double report_cause_share(const struct block *b, const struct cause *c);
/* Returns the part of a block's loss, without its callees', that its headline reports: 0..1. */
double report_told_share(const struct block *b);
/* The pool with most of the block's own time: enum cause_pool. */
unsigned told_largest_pool(const struct block *b);

#endif
