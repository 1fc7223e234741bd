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

void stats_wilson(double share, double n, double z, double *low, double *high)
{
	double z2 = z * z, middle = share + z2 / (2 * n), scale = 1 + z2 / n;
	double half = z * sqrt(share * (1 - share) / n + z2 / (4 * n * n));

	*low = fmax(0, (middle - half) / scale);
	*high = fmin(1, (middle + half) / scale);
}

void stats_poisson(double count, double alpha, double *low, double *high)
{
	*low = count > 0 ? gsl_cdf_chisq_Pinv(alpha / 2, 2 * count) / 2 : 0;
	*high = gsl_cdf_chisq_Pinv(1 - alpha / 2, 2 * count + 2) / 2;
}
