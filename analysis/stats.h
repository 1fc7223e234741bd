/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Statistics: the one file that includes GSL. */
#ifndef ISPOT_ANALYSIS_STATS_H
#define ISPOT_ANALYSIS_STATS_H

#include <stddef.h>

/* Least squares y = a + slope * x; r2 is the share of variance explained, NAN for n < 3 or flat
 * data. */
void stats_line(const double *x, const double *y, size_t n, double *slope, double *r2);

/* Student's distribution: the value below which a share p of it lies. */
double stats_t_quantile(double p, double degrees);

/* Wilson's interval of a share seen in n trials, z standard errors. */
void stats_wilson(double share, double n, double z, double *low, double *high);
/* The exact interval of a Poisson count's mean: 1 - alpha of it. */
void stats_poisson(double count, double alpha, double *low, double *high);

#endif
