/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Counts of an event by thread, as vectors: how similar two events are, and what is left of one
 * event without the part that another explains. LIME paper (Oh et al., ICSE 2011), sections 3.1,
 * 3.2 and 3.5.
 *
 * A vector whose values are all the same says nothing about the threads: its correlation with any
 * vector is NAN, and its z-scores are 0.
 */
#ifndef ISPOT_ANALYSIS_STAT_CORRELATION_H
#define ISPOT_ANALYSIS_STAT_CORRELATION_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Sets out to x minus its mean, scaled to length 1, so that the product of two results is Pearson's
 * r. Returns false, and sets zeros, if x is constant except for rounding errors of its largest
 * value.
 */
bool correlation_unit(const double *x, size_t n, double *out);

/* Returns Pearson's r, -1..1, or NAN if x or y is constant. */
double correlation(const double *x, const double *y, size_t n);

/* Sets out to (x - mean) / standard deviation of the population. */
void correlation_zscores(const double *x, size_t n, double *out);

/*
 * Does one step of Gram-Schmidt: sets out to x without the part of its variation that follows the
 * superior event, such as the misses that only more executions bring. The mean stays.
 */
void correlation_without(const double *x, const double *superior, size_t n, double *out);

#endif
