/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include <stdlib.h>

#include "analysis/score/workload.h"
#include "analysis/stat/stats.h"
#include "analysis/threads/threads.h"
#include "base/mem.h"

#define BIN_FIRST     16  /* calls in the first bin */
#define BIN_CALLS_MIN 3	  /* the fastest of fewer calls may still be a slow one */
#define BINS_MIN      12  /* three octaves of calls */
#define R2_MIN	      0.9 /* a step in the middle of a run has an r2 of 0.8 */
#define RATIO_MIN     2

/* Returns the typical times of the last bin, from the calls that were kept. */
static struct workload_typical typical_kept(const struct workload *w)
{
	struct workload_typical t = { 0 };
	double kept[WORKLOAD_KEPT], slow_ns;
	size_t n = w->kept.n;

	if (!n)
		return t;
	for (size_t i = 0; i < n; i++)
		kept[i] = (double)w->kept.data[i];
	t.median_ns = (uint64_t)stats_select(kept, n, n / 2);
	slow_ns = stats_select(kept, n, n - 1 - n / 10);
	for (size_t i = 0; i < n; i++)
		t.mean_ns += fmin((double)w->kept.data[i], slow_ns) / (double)n;
	return t;
}

static uint64_t edge(size_t bin)
{
	return (uint64_t)ceil(BIN_FIRST * exp2((double)bin / WORKLOAD_BINS_PER_OCTAVE));
}

static void next_bin(struct workload *w)
{
	if (w->last.calls && w->bins.n + 1 < WORKLOAD_BINS) {
		w->last.typical = typical_kept(w);
		*vec_add(&w->bins) = w->last;
		w->last = (struct workload_bin){ 0 };
	}
	w->next_edge = edge(w->bins.n + 1);
	w->kept.n = 0;
	w->next_kept = w->calls;
	w->stride = (w->next_edge - w->calls) / WORKLOAD_KEPT + 1;
}

static size_t n_bins(const struct workload *w)
{
	return w->bins.n + (w->last.calls > 0);
}

static const struct workload_bin *bin_at(const struct workload *w, size_t i)
{
	return i < w->bins.n ? &w->bins.data[i] : &w->last;
}

/* Keeps this call, and chooses a random one of the next stride, so that a periodic program cannot
 * bias the choice. */
static void sample_call(struct workload *w, uint64_t running_ns)
{
	uint64_t begin = w->next_kept / w->stride * w->stride + w->stride;

	w->random = w->random * 6364136223846793005u + 1442695040888963407u;
	w->next_kept = begin + (w->random >> 33) % w->stride;
	if (w->kept.n < WORKLOAD_KEPT)
		*vec_add(&w->kept) = running_ns;
}

void workload_turn(struct workload *w, uint64_t running_ns)
{
	if (w->calls >= w->next_edge)
		next_bin(w);
	if (w->calls >= w->next_kept)
		sample_call(w, running_ns);
	w->next_turn = w->next_edge < w->next_kept ? w->next_edge : w->next_kept;
}

static double correlation_r2(const struct workload *w)
{
	double n = (double)w->calls;
	double sxx = w->xx - w->x * w->x / n;
	double syy = w->yy - w->y * w->y / n;
	double sxy = w->xy - w->x * w->y / n;

	/* equal values leave a rounding error in the sums of squares, which is no variation */
	if (!w->calls || sxx <= 1e-9 * w->xx || syy <= 1e-9 * w->yy || sxy <= 0)
		return NAN;
	return sxy * sxy / (sxx * syy);
}

static struct workload_typical typical(const struct workload *w, size_t i)
{
	return i < w->bins.n ? w->bins.data[i].typical : typical_kept(w);
}

/* Sets a point for each bin: the number of its middle call, and its median or fastest duration.
 * Returns the number of points. */
static size_t points(const struct workload *w, bool median, double *x, double *y)
{
	uint64_t before = 0;
	size_t n = 0;

	for (size_t i = 0; i < n_bins(w); i++) {
		const struct workload_bin *bin = bin_at(w, i);
		uint64_t ns = median ? typical(w, i).median_ns : bin->min_ns;

		if (bin->calls >= BIN_CALLS_MIN && ns) {
			x[n] = (double)before + (double)bin->calls / 2;
			y[n++] = (double)ns;
		}
		before += bin->calls;
	}
	return n;
}

/* Returns the time of a bin's calls that growth alone explains: it rises from the bin's own fastest
 * call, at its begin, to that of the next bin. */
static double grown_ns(const struct workload *w, size_t i)
{
	const struct workload_bin *bin = bin_at(w, i), *next = bin_at(w, i + 1);
	double from = (double)bin->min_ns, to = from;

	if (i + 1 < n_bins(w) && next->min_ns > bin->min_ns)
		to = (double)next->min_ns;
	return (double)bin->calls * (from + to) / 2;
}

static double growth_share(const struct workload *w, bool median)
{
	double excess = 0, explained = 0, least = INFINITY;

	for (size_t i = 0; i < n_bins(w); i++)
		if (bin_at(w, i)->calls)
			least = fmin(least, (double)bin_at(w, i)->min_ns);
	for (size_t i = 0; i < n_bins(w); i++) {
		const struct workload_bin *bin = bin_at(w, i);
		double fastest = (double)bin->calls * least;
		double ns = median ? (double)bin->calls * typical(w, i).mean_ns : grown_ns(w, i);

		excess += (double)bin->sum_ns - fastest;
		explained += fmin(ns, (double)bin->sum_ns) - fastest;
	}
	return excess > 0 ? explained / excess : 0;
}

/* Fits a line with an offset and a power law to the bins, and returns the better of the two. */
static struct workload_growth growth(const struct workload *w, bool median, uint64_t probe_ns)
{
	struct workload_growth g = { NAN, NAN, NAN };
	double x[WORKLOAD_BINS], y[WORKLOAD_BINS], slope, power_r2;
	size_t n = points(w, median, x, y);

	if (n < BINS_MIN)
		return g;
	stats_line(x, y, n, &slope, &g.r2);
	g.ratio = axis_without_probe(y[n - 1], probe_ns) / axis_without_probe(y[0], probe_ns);
	g.share = growth_share(w, median);
	for (size_t i = 0; i < n; i++) {
		x[i] = log(x[i]);
		y[i] = log(axis_without_probe(y[i], probe_ns));
	}
	stats_line(x, y, n, &slope, &power_r2);
	if (!(power_r2 <= g.r2))
		g.r2 = power_r2;
	return g;
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

void workload_release(struct workload *w)
{
	for (unsigned i = 0; i < WORKLOAD_ARGUMENTS; i++)
		free(w->arguments[i]);
	vec_release(&w->bins);
	vec_release(&w->kept);
}

static void fit_arguments(const struct workload *w, uint64_t probe_ns, struct workload_fit *fit)
{
	fit->argument = (struct axis_fit){ NAN, NAN, NAN, false };
	fit->argument_number = 0;
	for (unsigned i = 0; i < WORKLOAD_ARGUMENTS; i++) {
		struct axis_fit f;

		if (!w->arguments[i])
			continue;
		axis_fit(w->arguments[i], probe_ns, &f);
		if (isnan(f.share) || axis_follows(&f) < axis_follows(&fit->argument) ||
		    (axis_follows(&f) == axis_follows(&fit->argument) &&
		     f.share <= fit->argument.share))
			continue;
		fit->argument = f;
		fit->argument_number = i + 1;
	}
}

struct workload_fit workload_no_fit(void)
{
	struct workload none = { 0 };
	struct workload_fit fit;

	workload_fit(&none, 0, &fit);
	return fit;
}

void workload_fit(const struct workload *w, uint64_t probe_ns, struct workload_fit *fit)
{
	fit->fastest = growth(w, false, probe_ns);
	fit->median = growth(w, true, probe_ns);
	fit->children_r2 = correlation_r2(w);
	fit_arguments(w, probe_ns, fit);
}

bool workload_grows(const struct workload_fit *fit)
{
	return fit->fastest.r2 >= R2_MIN && fit->fastest.ratio >= RATIO_MIN;
}

bool workload_mostly_grows(const struct workload_fit *fit)
{
	return fit->median.r2 >= R2_MIN && fit->median.ratio >= RATIO_MIN;
}
