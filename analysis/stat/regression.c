/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/stat/regression.h"

#include <math.h>

#include "analysis/stat/correlation.h"
#include "analysis/stat/stats.h"
#include "base/mem.h"

#define EXPLAINED 1e-18 /* share of y's variance; a smaller rest is a rounding error */
#define SAME	  1e-9	/* shares of variance that differ by less are equal */

/*
 * Columns and y are kept orthogonal to the columns that have entered, so that each step needs to
 * look at one column at a time.
 */
struct selection {
	size_t n;
	uint32_t columns;
	double own;    /* a column can enter only if more than this share of its variance is left */
	double *units; /* the original columns, with length 1 or 0 */
	double *rests; /* the columns without the parts of those that entered */
	double *y;
};

static double product(const double *x, const double *y, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += x[i] * y[i];
	return sum;
}

/*
 * Returns the share of the remaining variance of y that column j would explain, with the sign of r.
 */
static double share_of(const struct selection *s, uint32_t j)
{
	const double *x = s->rests + j * s->n;
	double xx = product(x, x, s->n), xy = product(x, s->y, s->n);

	if (xx <= s->own)
		return 0;
	return copysign(fmin(1, xy * xy / (xx * product(s->y, s->y, s->n))), xy);
}

static uint32_t best_column(const struct selection *s, double *share)
{
	uint32_t best = 0;

	*share = 0;
	for (uint32_t j = 0; j < s->columns; j++) {
		double other = share_of(s, j), more = fabs(other) - fabs(*share);

		if (more > SAME || (more > -SAME && other > 0 && *share < 0)) {
			*share = other;
			best = j;
		}
	}
	return best;
}

static void subtract_part(double *x, const double *unit, size_t n)
{
	double part = product(x, unit, n);

	for (size_t i = 0; i < n; i++)
		x[i] -= part * unit[i];
}

static void enter(struct selection *s, uint32_t column)
{
	double unit[s->n], length;
	double *x = s->rests + column * s->n;

	length = sqrt(product(x, x, s->n));
	for (size_t i = 0; i < s->n; i++)
		unit[i] = x[i] / length;
	for (uint32_t j = 0; j < s->columns; j++)
		subtract_part(s->rests + j * s->n, unit, s->n);
	subtract_part(s->y, unit, s->n);
}

/* Because y and the columns have length 1, the coefficients are standardized. */
static void fit(struct regression *g, const struct selection *s, const double *y)
{
	size_t k = g->terms.n, n = s->n;
	double *x = xmalloc((k * n + 1) * sizeof(*x)), b[k + 1];

	for (size_t j = 0; j < k; j++)
		for (size_t i = 0; i < n; i++)
			x[j * n + i] = s->units[g->terms.data[j].column * n + i];
	if (k && !stats_lines(x, k, y, n, b))
		for (size_t j = 0; j < k; j++)
			g->terms.data[j].beta = b[j + 1];
	free(x);
}

void regression_select(struct regression *g, const double *x, uint32_t columns, const double *y,
		       size_t n, double level, double own)
{
	double *unit_y = xcalloc(n + 1, sizeof(double)), share = 0, left;
	struct selection s = {
		.n = n,
		.columns = columns,
		.own = own,
		.units = xcalloc(columns * n + 1, sizeof(double)),
		.rests = xcalloc(columns * n + 1, sizeof(double)),
		.y = xcalloc(n + 1, sizeof(double)),
	};

	*g = (struct regression){ 0 };
	for (uint32_t j = 0; j < columns; j++)
		correlation_unit(x + j * n, n, s.units + j * n);
	memcpy(s.rests, s.units, columns * n * sizeof(double));
	correlation_unit(y, n, unit_y);
	memcpy(s.y, unit_y, n * sizeof(double));
	while (g->terms.n + 2 < n && (left = product(s.y, s.y, n)) > EXPLAINED) {
		uint32_t column = best_column(&s, &share);
		double degrees = (double)(n - g->terms.n) - 2, f, p;

		f = fabs(share) < 1 ? fabs(share) / (1 - fabs(share)) * degrees : INFINITY;
		p = isinf(f) ? 0 : stats_f_above(f, 1, degrees);
		if (share == 0 || p > level)
			break;
		*vec_add(&g->terms) = (struct regression_term){ .column = column, .f = f, .p = p };
		enter(&s, column);
		g->r2 = 1 - product(s.y, s.y, n);
	}
	fit(g, &s, unit_y);
	free(unit_y);
	free(s.units);
	free(s.rests);
	free(s.y);
}

void regression_release(struct regression *g)
{
	vec_release(&g->terms);
	*g = (struct regression){ 0 };
}
