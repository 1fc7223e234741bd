/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The behaviours of the paper: the common traits of a block's divergent executions, each a row with
 * its evidence. No row reads names.
 */
#ifndef ISPOT_ANALYSIS_OUTLIER_BEHAVIOUR_H
#define ISPOT_ANALYSIS_OUTLIER_BEHAVIOUR_H

struct outlier_block;
struct outliers;

/* After outlier_explain(), while calls are at their end. */
void outlier_find_behaviours(struct outliers *o, struct outlier_block *b);

#endif
