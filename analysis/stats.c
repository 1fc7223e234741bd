/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_fit.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

#include "analysis/stats.h"

void stats_line(const double *x, const double *y, size_t n, double *slope, double *r2)
{
	double a, cov00, cov01, cov11, rest, total;

	*slope = *r2 = NAN;
	if (n < 3)
		return;
	gsl_fit_linear(x, 1, y, 1, n, &a, slope, &cov00, &cov01, &cov11, &rest);
	total = gsl_stats_tss(y, 1, n);
	*r2 = total > 0 ? 1 - rest / total : NAN;
}

double stats_t_quantile(double p, double degrees)
{
	return gsl_cdf_tdist_Pinv(p, degrees);
}
