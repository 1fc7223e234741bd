/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/stat/correlation.h"

#include <math.h>

#define ROUNDING 1e-12 /* relative; counts that differ by less are the same */

static double mean_of(const double *x, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += x[i];
	return n ? sum / (double)n : 0;
}

static double product(const double *x, const double *y, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += x[i] * y[i];
	return sum;
}

/*
 * Subtracts the mean of x. Returns the length of the result, or 0 if only rounding errors are left.
 */
static double centre(const double *x, size_t n, double *out)
{
	double mean = mean_of(x, n), largest = 0, length;

	for (size_t i = 0; i < n; i++) {
		out[i] = x[i] - mean;
		largest = fmax(largest, fabs(x[i]));
	}
	length = sqrt(product(out, out, n));
	return length > ROUNDING * largest * sqrt((double)n) ? length : 0;
}

bool correlation_unit(const double *x, size_t n, double *out)
{
	double length = centre(x, n, out);

	for (size_t i = 0; i < n; i++)
		out[i] = length > 0 ? out[i] / length : 0;
	return length > 0;
}

double correlation(const double *x, const double *y, size_t n)
{
	double a[n ? n : 1], b[n ? n : 1];

	if (!correlation_unit(x, n, a) || !correlation_unit(y, n, b))
		return NAN;
	return fmax(-1, fmin(1, product(a, b, n)));
}

void correlation_zscores(const double *x, size_t n, double *out)
{
	correlation_unit(x, n, out);
	for (size_t i = 0; i < n; i++)
		out[i] *= sqrt((double)n);
}

void correlation_without(const double *x, const double *superior, size_t n, double *out)
{
	double unit[n ? n : 1], part;

	if (!correlation_unit(superior, n, unit)) {
		for (size_t i = 0; i < n; i++)
			out[i] = x[i];
		return;
	}
	part = product(x, unit, n);
	for (size_t i = 0; i < n; i++)
		out[i] = x[i] - part * unit[i];
}
