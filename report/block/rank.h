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

/* Whether the block's interference is worth a line on the first screen. */
bool report_worth(const struct block *b);
/* Whether the block's own lost time, without its callees', is worth a color: 5% of thread time. */
bool report_loses_much(const struct view *v, const struct block *b);
/*
 * Whether the block has running time that nothing explains and that is worth a line on the first
 * screen.
 */
bool report_unexplained(const struct block *b);
/*
 * Returns the row with the most lost time, which the summary, the advice and the next step are
 * about, or NULL if no row is worth it.
 */
const struct block *report_worst(const struct view *v);
/* Returns the row with the most unexplained time that is worth a line, or NULL. */
const struct block *report_most_unexplained(const struct view *v);
/*
 * Returns the row that loses most of those with too few calls for a verdict, or NULL if none loses
 * as much as would be reported with a verdict.
 */
const struct block *report_most_unjudged(const struct view *v);
/*
 * Returns the row's lost time in ns, as far as the recording's lost time includes it. It does not
 * if the slow calls are, or may be, no interference, but for the part of a block with unexplained
 * time that has a cause.
 */
double report_counted_ns(const struct view *v, const struct block *b);
/*
 * Returns the part of the recording's lost time that no row of the view has, in ns, or 0 if that is
 * too little to show: of calls outside all sequences, call sites or locks, or of a function whose
 * per-argument rows do not lose all that it loses.
 */
double report_elsewhere_ns(const struct view *v);
/* Returns where that time is: "in none of the sequences". */
const char *report_elsewhere(const struct view *v);
/* Whether the table lists the block; the lines below the table count the others. */
bool report_listed(const struct view *v, const struct block *b);
/* Returns whether the table lists any block. */
bool report_any_listed(const struct view *v);
/* Returns whether the block is a row of the view. */
bool report_is_row(const struct view *v, const struct block *b);
/*
 * Sets what to sort by: the name of a column or of a counter, or NULL for the default. -EINVAL with
 * exit status 2: there is no such name.
 */
int view_sort_by(struct view *v, const char *name, struct err *err);
/* Fills rows, which the caller frees, ordered by v->sort or by lost time. */
void view_rank(struct view *v);
/* Makes blocks of kind thread from the result's threads; the caller releases them. */
void view_thread_blocks(const struct result *result, struct blocks *blocks);

#endif
