/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Statistics: the one file that includes GSL. */
#ifndef ISPOT_ANALYSIS_STAT_STATS_H
#define ISPOT_ANALYSIS_STAT_STATS_H

#include <stddef.h>

/*
 * Fits y = a + slope * x by least squares. r2 is the share of the variance that the line explains.
 * r2 is NAN if n < 3 or y is constant.
 */
void stats_line(const double *x, const double *y, size_t n, double *slope, double *r2);

/* Returns the k-th smallest of n values, counted from 0; changes the order of the values. */
double stats_select(double *values, size_t n, size_t k);

/*
 * Fits y = b[0] + sum of b[1 + j] * x[j * n + i] over the k columns of x by least squares. -EINVAL:
 * there are no more values than unknowns. -ERANGE: the fit has no numeric solution.
 */
int stats_lines(const double *x, size_t k, const double *y, size_t n, double *b);

/* Returns the probability of a value above f in the F distribution. */
double stats_f_above(double f, double degrees, double degrees_rest);

/* Returns the quantile p of Student's t distribution. */
double stats_t_quantile(double p, double degrees);

/* Returns the probability of a value above t in Student's t distribution. */
double stats_t_above(double t, double degrees);

/* Sets Wilson's interval for a share seen in n trials, with z standard errors. */
void stats_wilson(double share, double n, double z, double *low, double *high);
/* Sets the exact interval, with confidence 1 - alpha, for the mean of a Poisson count. */
void stats_poisson(double count, double alpha, double *low, double *high);

#endif
