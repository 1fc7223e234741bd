/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Statistics: the one file that includes GSL. */
#ifndef ISPOT_ANALYSIS_STAT_STATS_H
#define ISPOT_ANALYSIS_STAT_STATS_H

#include <stddef.h>

/* Least squares y = a + slope * x; r2 is the share of variance explained, NAN for n < 3 or flat
 * data. */
void stats_line(const double *x, const double *y, size_t n, double *slope, double *r2);

/* The k-th smallest of n values, k from 0; they are put into another order. */
double stats_select(double *values, size_t n, size_t k);

/*
 * Least squares y = b[0] + sum of b[1 + j] * x[j * n + i] over the k columns of x. -EINVAL: as many
 * unknowns as values, or more; -ERANGE: no solution in numbers.
 */
int stats_lines(const double *x, size_t k, const double *y, size_t n, double *b);

/* The F distribution: the share of it above f. */
double stats_f_above(double f, double degrees, double degrees_rest);

/* Student's distribution: the value below which a share p of it lies. */
double stats_t_quantile(double p, double degrees);

/* The share of it above t. */
double stats_t_above(double t, double degrees);

/* Wilson's interval of a share seen in n trials, z standard errors. */
void stats_wilson(double share, double n, double z, double *low, double *high);
/* The exact interval of a Poisson count's mean: 1 - alpha of it. */
void stats_poisson(double count, double alpha, double *low, double *high);

#endif
