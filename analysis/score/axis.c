/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "analysis/score/axis.h"
#include "analysis/stat/stats.h"

#define BIN_CALLS_MIN 8 /* the fastest of fewer says little */
#define BINS_MIN      3
#define R2_MIN	      0.9
#define RATIO_MIN     2
#define SHARE_MIN     0.5

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

	if (!bin->calls++ || duration_ns < bin->min_ns)
		bin->min_ns = duration_ns;
	bin->sum_ns += duration_ns;
	bin->sum_x += (double)x;
	bin->sum_number += (double)number;
}

/* The better of a line and a power; falling is no growth of work. */
static double best_r2(double *x, double *y, unsigned n)
{
	double line, power, slope;

	stats_line(x, y, n, &slope, &line);
	if (!(slope > 0))
		line = NAN;
	for (unsigned i = 0; i < n; i++) {
		x[i] = log(x[i] + 1);
		y[i] = log(y[i]);
	}
	stats_line(x, y, n, &slope, &power);
	return slope > 0 && !(power <= line) ? power : line;
}

void axis_fit(const struct axis *a, struct axis_fit *fit)
{
	double x[AXIS_BINS], y[AXIS_BINS], least = INFINITY, most = 0, excess = 0, work = 0;
	double number, before = -1;
	bool in_time = true;
	unsigned n = 0;

	*fit = (struct axis_fit){ NAN, NAN, NAN, false };
	for (unsigned i = 0; i < AXIS_BINS; i++) {
		const struct axis_bin *bin = &a->bins[i];

		if (bin->calls < BIN_CALLS_MIN || !bin->min_ns)
			continue;
		x[n] = bin->sum_x / (double)bin->calls;
		y[n++] = (double)bin->min_ns;
		least = fmin(least, (double)bin->min_ns);
		most = fmax(most, (double)bin->min_ns);
		number = bin->sum_number / (double)bin->calls;
		in_time &= number > before;
		before = number;
	}
	if (n < BINS_MIN)
		return;
	for (unsigned i = 0; i < AXIS_BINS; i++) {
		const struct axis_bin *bin = &a->bins[i];

		if (bin->calls < BIN_CALLS_MIN || !bin->min_ns)
			continue;
		excess += (double)bin->sum_ns - (double)bin->calls * least;
		work += (double)bin->calls * ((double)bin->min_ns - least);
	}
	fit->in_time = in_time;
	fit->ratio = most / least;
	fit->share = excess > 0 ? work / excess : 0;
	fit->r2 = best_r2(x, y, n);
}

bool axis_follows(const struct axis_fit *fit)
{
	return fit->r2 >= R2_MIN && fit->ratio >= RATIO_MIN;
}

bool axis_proves_work(const struct axis_fit *fit)
{
	return axis_follows(fit) && fit->share >= SHARE_MIN;
}
