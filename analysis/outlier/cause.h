/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Why an execution diverges: the first row whose time explains half of what is above the line, else
 * what it did that typical ones did not. No row reads names.
 */
#ifndef ISPOT_ANALYSIS_OUTLIER_CAUSE_H
#define ISPOT_ANALYSIS_OUTLIER_CAUSE_H

struct outlier_block;
struct outliers;

/* While calls are at their end: why each execution of the block diverges. */
void outlier_explain(struct outliers *o, struct outlier_block *b);

#endif
