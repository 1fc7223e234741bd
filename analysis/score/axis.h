/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Does a block's duration depend on a number that belongs to the call, such as an argument? Calls
 * are binned by this number. The fastest call of a bin stands for its work, because interference
 * rarely affects every call of a bin. Values below 8 have a bin each; above, there are four bins
 * per octave. The fastest call of a bin usually has one of the bin's lowest values, so the work of
 * its other calls is between this call's and that of the next bin's fastest call.
 */
#ifndef ISPOT_ANALYSIS_SCORE_AXIS_H
#define ISPOT_ANALYSIS_SCORE_AXIS_H

#include <stdbool.h>
#include <stdint.h>

#define AXIS_BINS (8 + 61 * 4)

struct axis {
	struct axis_bin {
		uint64_t calls, sum_ns, min_ns, min_x; /* min_x: x of the fastest call */
		double sum_x, sum_number;
	} bins[AXIS_BINS];
};

struct axis_fit {
	double r2;    /* of a line or a power law, the better one; NAN: too little data */
	double ratio; /* largest / smallest of the bins' fastest calls */
	double share; /* share of the excess that the bins' fastest calls account for */
	bool in_time; /* later calls have larger numbers, so whatever grows with time correlates,
		       * too */
};

/* Adds a call with the value x. number: of the call, in the order of time. */
void axis_add(struct axis *a, uint64_t x, uint64_t duration_ns, uint64_t number);
/* probe_ns: measured duration of an empty call, which is no work. */
void axis_fit(const struct axis *a, uint64_t probe_ns, struct axis_fit *fit);
/* Returns a duration without the probe's time, but at least a small part of the probe's time. */
double axis_without_probe(double duration_ns, uint64_t probe_ns);

/* Whether the duration depends on the number: the fit is good and the range wide. */
bool axis_follows(const struct axis_fit *fit);

#endif
