/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which blocks a view shows, and in which order. */
#ifndef ISPOT_REPORT_BLOCK_RANK_H
#define ISPOT_REPORT_BLOCK_RANK_H

#include <stdbool.h>

struct block;
struct blocks;
struct err;
struct result;
struct view;

/* Interference that is worth a line of the first screen. */
bool report_worth(const struct block *b);
/* Whether the block's own lost time, without its callees', is worth a colour: 5% of thread time. */
bool report_loses_much(const struct view *v, const struct block *b);
/* Running time that nothing explains, and that is worth a line of the first screen. */
bool report_unexplained(const struct block *b);
/* The row with the most lost time: the paragraph, what to try and what is next tell of it. NULL: no
 * row is worth it. */
const struct block *report_worst(const struct view *v);
/* The row with most unexplained time that is worth a line; NULL: none is. */
const struct block *report_most_unexplained(const struct view *v);
/* Which of those with too few calls to be judged loses most; NULL: none loses what a judged one
 * would be told for. */
const struct block *report_most_unjudged(const struct view *v);
/* Whether the table lists it: what it leaves out the lines below it count. */
bool report_listed(const struct view *v, const struct block *b);
/* -s: a column's or a counter's name, NULL none. -EINVAL, exit status 2: neither. */
int view_sort_by(struct view *v, const char *name, struct err *err);
/* The order of v->sort, or of lost time. Fills rows (to be freed). */
void view_rank(struct view *v);
/* Blocks of kind thread from the result's threads, to be released. */
void view_thread_blocks(const struct result *result, struct blocks *blocks);

#endif
