/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a block's divergent executions have in common: the paper's behaviours, each a row with the
 * evidence. No row reads names. */
#ifndef ISPOT_ANALYSIS_OUTLIER_BEHAVIOUR_H
#define ISPOT_ANALYSIS_OUTLIER_BEHAVIOUR_H

struct outlier_block;
struct outliers;

/* After outlier_explain(), while calls are at their end. */
void outlier_find_behaviours(struct outliers *o, struct outlier_block *b);

#endif
