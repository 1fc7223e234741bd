/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fits the line of a block's durations over its execution index. */
#ifndef ISPOT_ANALYSIS_OUTLIER_FIT_H
#define ISPOT_ANALYSIS_OUTLIER_FIT_H

#include <stdint.h>

#include "analysis/outlier/outlier.h"

/* Adds an execution. outlier_fit() sets the line after the last one; jitter_ns is the variation
 * that the probes alone may cause. */
void outlier_fit_add(struct outlier_block *b, uint64_t index, uint64_t ns);
/* Adds brief executions, which were too short for records of their own. Their indices are not
 * known, so the line becomes horizontal. */
void outlier_fit_brief(struct outlier_block *b, const struct brief *brief, const struct record *r);
void outlier_fit(struct outlier_block *b, enum outlier_rule rule, double jitter_ns);

#endif
