/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Counts of an event by thread, as vectors: how alike two are, and what is left of one when
 * another's part is taken out. LIME paper (Oh et al., ICSE 2011), sections 3.1, 3.2 and 3.5.
 *
 * A vector whose values are all the same says nothing about the threads: its correlation with
 * anything is NAN, its z-scores are 0.
 */
#ifndef ISPOT_ANALYSIS_STAT_CORRELATION_H
#define ISPOT_ANALYSIS_STAT_CORRELATION_H

#include <stdbool.h>
#include <stddef.h>

/*
 * out: x less its mean, scaled to length 1, so that the product of two is Pearson's r. false, and
 * zeros: constant, up to what rounding adds to a value as large as x's.
 */
bool correlation_unit(const double *x, size_t n, double *out);

/* Pearson's r, -1..1; NAN where one of them is constant. */
double correlation(const double *x, const double *y, size_t n);

/* (x - mean) / standard deviation, of the population. */
void correlation_zscores(const double *x, size_t n, double *out);

/*
 * One step of Gram-Schmidt: out is x without the part of its variation that follows the superior
 * event's (misses without those that more executions bring); the mean stays.
 */
void correlation_without(const double *x, const double *superior, size_t n, double *out);

#endif
