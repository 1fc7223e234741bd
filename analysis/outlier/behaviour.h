/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The behaviours of the paper: what a block's outliers have in common. Each behaviour is a row that
 * finds its own evidence. No row depends on the names of functions. */
#ifndef ISPOT_ANALYSIS_OUTLIER_BEHAVIOUR_H
#define ISPOT_ANALYSIS_OUTLIER_BEHAVIOUR_H

struct outlier_block;
struct outliers;

/* Fills the hints of b. Called after outlier_explain(), at the end of the second pass. */
void outlier_find_behaviours(struct outliers *o, struct outlier_block *b);

#endif
