/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "analysis/score/axis.h"
#include "analysis/stat/stats.h"

#define BIN_CALLS_MIN 8 /* the fastest of fewer calls may still be a slow one */
#define BINS_MIN      3
#define R2_MIN	      0.9
#define RATIO_MIN     2
#define PROBE_HIDES   0.2 /* share of the probe's own time: shorter calls cannot be measured */

static unsigned bin_of(uint64_t x)
{
	unsigned octave;

	if (x < 8)
		return (unsigned)x;
	octave = 63 - (unsigned)__builtin_clzll(x);
	return 8 + (octave - 3) * 4 + (unsigned)(x >> (octave - 2) & 3);
}

void axis_add(struct axis *a, uint64_t x, uint64_t duration_ns, uint64_t number)
{
	struct axis_bin *bin = &a->bins[bin_of(x)];

	if (!bin->calls++ || duration_ns < bin->min_ns) {
		bin->min_ns = duration_ns;
		bin->min_x = x;
	}
	bin->sum_ns += duration_ns;
	bin->sum_x += (double)x;
	bin->sum_number += (double)number;
}

/* Returns the better r2 of a line and a power law, or NAN if none rises. The power law is fitted to
 * durations without the probe's time. */
static double best_r2(double *x, double *y, unsigned n, uint64_t probe_ns)
{
	double line, power, slope;

	stats_line(x, y, n, &slope, &line);
	if (!(slope > 0))
		line = NAN;
	for (unsigned i = 0; i < n; i++) {
		x[i] = log(x[i] + 1);
		y[i] = log(axis_without_probe(y[i], probe_ns));
	}
	stats_line(x, y, n, &slope, &power);
	return slope > 0 && !(power <= line) ? power : line;
}

double axis_without_probe(double duration_ns, uint64_t probe_ns)
{
	return fmax(duration_ns - (double)probe_ns, PROBE_HIDES * (double)probe_ns);
}

static bool says_much(const struct axis_bin *bin)
{
	return bin->calls >= BIN_CALLS_MIN && bin->min_ns;
}

/* Returns the next bin with enough calls, or NULL. */
static const struct axis_bin *next_of(const struct axis *a, const struct axis_bin *bin)
{
	for (bin++; bin < a->bins + AXIS_BINS; bin++)
		if (says_much(bin))
			return bin;
	return NULL;
}

/* Returns the mean time of a bin's calls that their number explains: by the line from the bin's
 * fastest call to that of the next bin. */
static double work_of(const struct axis *a, const struct axis_bin *bin)
{
	const struct axis_bin *next = next_of(a, bin);
	double from = (double)bin->min_ns, mean_x = bin->sum_x / (double)bin->calls, slope;

	if (!next || next->min_ns <= bin->min_ns || next->min_x <= bin->min_x ||
	    mean_x <= (double)bin->min_x)
		return from;
	slope = (double)(next->min_ns - bin->min_ns) / (double)(next->min_x - bin->min_x);
	return fmin(from + slope * (mean_x - (double)bin->min_x),
		    (double)bin->sum_ns / (double)bin->calls);
}

void axis_fit(const struct axis *a, uint64_t probe_ns, struct axis_fit *fit)
{
	double x[AXIS_BINS], y[AXIS_BINS], least = INFINITY, most = 0, excess = 0, work = 0;
	double number, before = -1;
	bool in_time = true;
	unsigned n = 0;

	*fit = (struct axis_fit){ NAN, NAN, NAN, false };
	for (const struct axis_bin *bin = a->bins; bin < a->bins + AXIS_BINS; bin++) {
		if (!says_much(bin))
			continue;
		x[n] = (double)bin->min_x;
		y[n++] = (double)bin->min_ns;
		least = fmin(least, (double)bin->min_ns);
		most = fmax(most, (double)bin->min_ns);
		number = bin->sum_number / (double)bin->calls;
		in_time &= number > before;
		before = number;
	}
	if (n < BINS_MIN)
		return;
	for (const struct axis_bin *bin = a->bins; bin < a->bins + AXIS_BINS; bin++) {
		if (!says_much(bin))
			continue;
		excess += (double)bin->sum_ns - (double)bin->calls * least;
		work += (double)bin->calls * (work_of(a, bin) - least);
	}
	fit->in_time = in_time;
	fit->ratio = axis_without_probe(most, probe_ns) / axis_without_probe(least, probe_ns);
	fit->share = excess > 0 ? work / excess : 0;
	fit->r2 = best_r2(x, y, n, probe_ns);
}

bool axis_follows(const struct axis_fit *fit)
{
	return fit->r2 >= R2_MIN && fit->ratio >= RATIO_MIN;
}
