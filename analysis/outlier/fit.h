/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The line that a block's executions follow as it is called again and again. */
#ifndef ISPOT_ANALYSIS_OUTLIER_FIT_H
#define ISPOT_ANALYSIS_OUTLIER_FIT_H

#include <stdint.h>

#include "analysis/outlier/outlier.h"

/* An execution is added; after the last one, the line. jitter_ns: what probing alone may add. */
void outlier_fit_add(struct outlier_block *b, uint64_t index, uint64_t ns);
/* Executions too short to be written. Where among the others they were is not known, so the line is
 * flat. */
void outlier_fit_brief(struct outlier_block *b, const struct brief *brief, const struct record *r);
void outlier_fit(struct outlier_block *b, enum outlier_rule rule, double jitter_ns);

#endif
