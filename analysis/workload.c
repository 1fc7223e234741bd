/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include <stdlib.h>

#include "analysis/stats.h"
#include "analysis/workload.h"
#include "base/mem.h"

#define BIN_FIRST     16 /* calls in the first bin */
#define BIN_CALLS_MIN 3	 /* the fastest of fewer calls says little */
#define BINS_MIN      12 /* three octaves of calls */

static void next_bin(struct workload *w)
{
	if (w->calls && w->bin + 1 < WORKLOAD_BINS)
		w->bin++;
	w->n_bins = w->bin + 1;
	w->next_edge =
		(uint64_t)ceil(BIN_FIRST * exp2((double)(w->bin + 1) / WORKLOAD_BINS_PER_OCTAVE));
}

void workload_add(struct workload *w, uint64_t duration_ns, uint32_t calls_inside)
{
	struct workload_bin *bin;
	double x = calls_inside, y = (double)duration_ns;

	if (w->calls >= w->next_edge)
		next_bin(w);
	w->calls++;
	bin = &w->bins[w->bin];
	if (!bin->calls++ || duration_ns < bin->min_ns)
		bin->min_ns = duration_ns;
	bin->sum_ns += duration_ns;
	w->y += y;
	w->yy += y * y;
	if (calls_inside) {
		w->x += x;
		w->xx += x * x;
		w->xy += x * y;
	}
}

static double correlation_r2(const struct workload *w)
{
	double n = (double)w->calls;
	double sxx = w->xx - w->x * w->x / n;
	double syy = w->yy - w->y * w->y / n;
	double sxy = w->xy - w->x * w->y / n;

	/* sums of squares: what rounding leaves of equal values is not variation */
	if (!w->calls || sxx <= 1e-9 * w->xx || syy <= 1e-9 * w->yy || sxy <= 0)
		return NAN;
	return sxy * sxy / (sxx * syy);
}

/* Bins as points: (number of the middle call, fastest call). Returns how many. */
static size_t points(const struct workload *w, double *x, double *y)
{
	uint64_t before = 0;
	size_t n = 0;

	for (uint32_t i = 0; i < w->n_bins; i++) {
		const struct workload_bin *bin = &w->bins[i];

		if (bin->calls >= BIN_CALLS_MIN && bin->min_ns) {
			x[n] = (double)before + (double)bin->calls / 2;
			y[n++] = (double)bin->min_ns;
		}
		before += bin->calls;
	}
	return n;
}

/* What a bin's calls take by the growth alone: from its own fastest, at its begin, to the next's.
 */
static double grown_ns(const struct workload *w, uint32_t i)
{
	const struct workload_bin *bin = &w->bins[i], *next = &w->bins[i + 1];
	double from = (double)bin->min_ns, to = from;

	if (i + 1 < w->n_bins && next->min_ns > bin->min_ns)
		to = (double)next->min_ns;
	return fmin((double)bin->sum_ns, (double)bin->calls * (from + to) / 2);
}

static double growth_share(const struct workload *w, double least)
{
	double excess = 0, explained = 0;

	for (uint32_t i = 0; i < w->n_bins; i++) {
		const struct workload_bin *bin = &w->bins[i];

		excess += (double)bin->sum_ns - (double)bin->calls * least;
		explained += grown_ns(w, i) - (double)bin->calls * least;
	}
	return excess > 0 ? explained / excess : 0;
}

/* A power of the number, or a line with an offset: the better of the two. */
static void fit_growth(const struct workload *w, struct workload_fit *fit)
{
	double x[WORKLOAD_BINS], y[WORKLOAD_BINS];
	size_t n = points(w, x, y);
	double least, slope, power_r2;

	fit->growth_ratio = fit->growth_r2 = fit->growth_share = NAN;
	if (n < BINS_MIN)
		return;
	stats_line(x, y, n, &slope, &fit->growth_r2);
	least = y[0];
	fit->growth_ratio = y[n - 1] / y[0];
	for (size_t i = 0; i < n; i++) {
		least = y[i] < least ? y[i] : least;
		x[i] = log(x[i]);
		y[i] = log(y[i]);
	}
	fit->growth_share = growth_share(w, least);
	stats_line(x, y, n, &slope, &power_r2);
	if (!(power_r2 <= fit->growth_r2))
		fit->growth_r2 = power_r2;
}

void workload_add_arguments(struct workload *w, uint32_t mask, const uint64_t *values,
			    uint64_t duration_ns)
{
	for (unsigned i = 0; i < WORKLOAD_ARGUMENTS; i++) {
		if (!(mask & 1u << i))
			continue;
		if (!w->arguments[i])
			w->arguments[i] = xcalloc(1, sizeof(struct axis));
		axis_add(w->arguments[i], values[i], duration_ns, w->calls);
	}
}

void workload_free(struct workload *w)
{
	for (unsigned i = 0; w && i < WORKLOAD_ARGUMENTS; i++)
		free(w->arguments[i]);
	free(w);
}

static void fit_arguments(const struct workload *w, struct workload_fit *fit)
{
	fit->argument = (struct axis_fit){ NAN, NAN, NAN, false };
	fit->argument_number = 0;
	for (unsigned i = 0; i < WORKLOAD_ARGUMENTS; i++) {
		struct axis_fit f;

		if (!w->arguments[i])
			continue;
		axis_fit(w->arguments[i], &f);
		if (isnan(f.share) || axis_follows(&f) < axis_follows(&fit->argument) ||
		    (axis_follows(&f) == axis_follows(&fit->argument) &&
		     f.share <= fit->argument.share))
			continue;
		fit->argument = f;
		fit->argument_number = i + 1;
	}
}

void workload_fit(const struct workload *w, struct workload_fit *fit)
{
	fit_growth(w, fit);
	fit->children_r2 = correlation_r2(w);
	fit_arguments(w, fit);
}

bool workload_grows(const struct workload_fit *fit)
{
	return fit->growth_r2 >= 0.9 && fit->growth_ratio >= 2;
}
