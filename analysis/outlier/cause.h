/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Why an execution is an outlier: the first cause whose time explains half of the time above the
 * line, else what the execution did that typical ones did not. No cause depends on the names of
 * functions.
 */
#ifndef ISPOT_ANALYSIS_OUTLIER_CAUSE_H
#define ISPOT_ANALYSIS_OUTLIER_CAUSE_H

struct outlier_block;
struct outliers;

/* Sets the cause of each outlier of the block. Called at the end of the second pass. */
void outlier_explain(struct outliers *o, struct outlier_block *b);

#endif
