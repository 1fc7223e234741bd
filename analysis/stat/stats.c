/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_fit.h>
#include <gsl/gsl_multifit.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

#include "analysis/stat/stats.h"

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

/* GSL ends the program on an error, so callers pass n > k. */
double stats_select(double *values, size_t n, size_t k)
{
	return gsl_stats_select(values, 1, n, k);
}

int stats_lines(const double *x, size_t k, const double *y, size_t n, double *b)
{
	gsl_vector_const_view values = gsl_vector_const_view_array(y, n ? n : 1);
	gsl_multifit_linear_workspace *work;
	gsl_matrix *columns, *covariance;
	gsl_vector *found;
	double rest;
	int rc;

	if (n <= k + 1)
		return -EINVAL;
	work = gsl_multifit_linear_alloc(n, k + 1);
	columns = gsl_matrix_alloc(n, k + 1);
	covariance = gsl_matrix_alloc(k + 1, k + 1);
	found = gsl_vector_alloc(k + 1);
	for (size_t i = 0; i < n; i++) {
		gsl_matrix_set(columns, i, 0, 1);
		for (size_t j = 0; j < k; j++)
			gsl_matrix_set(columns, i, j + 1, x[j * n + i]);
	}
	rc = gsl_multifit_linear(columns, &values.vector, found, covariance, &rest, work);
	for (size_t j = 0; j <= k; j++)
		b[j] = gsl_vector_get(found, j);
	gsl_vector_free(found);
	gsl_matrix_free(covariance);
	gsl_matrix_free(columns);
	gsl_multifit_linear_free(work);
	return rc == GSL_SUCCESS ? 0 : -ERANGE;
}

double stats_f_above(double f, double degrees, double degrees_rest)
{
	return gsl_cdf_fdist_Q(f, degrees, degrees_rest);
}

double stats_t_quantile(double p, double degrees)
{
	return gsl_cdf_tdist_Pinv(p, degrees);
}

double stats_t_above(double t, double degrees)
{
	return gsl_cdf_tdist_Q(t, degrees);
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
