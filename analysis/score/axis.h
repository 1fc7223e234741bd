/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Does a block's duration follow a number that belongs to the call, such as an argument? Calls are
 * binned by it; the fastest call of a bin stands for its work, because interference seldom reaches
 * every one of a bin's calls. Values below 8 have a bin each, then four an octave. The fastest of a
 * bin is one of its lowest values: what others of it take is between that and the next bin's.
 */
#ifndef ISPOT_ANALYSIS_SCORE_AXIS_H
#define ISPOT_ANALYSIS_SCORE_AXIS_H

#include <stdbool.h>
#include <stdint.h>

#define AXIS_BINS (8 + 61 * 4)

struct axis {
	struct axis_bin {
		uint64_t calls, sum_ns, min_ns, min_x; /* min_x: of the fastest call */
		double sum_x, sum_number;
	} bins[AXIS_BINS];
};

struct axis_fit {
	double r2;    /* of a line or a power, the better; NAN: too little to tell */
	double ratio; /* slowest bin's fastest call over the fastest */
	double share; /* of the excess that the bins' fastest calls account for */
	bool in_time; /* later calls have larger numbers: what grows with time follows them too */
};

/* number: of the call, rising. */
void axis_add(struct axis *a, uint64_t x, uint64_t duration_ns, uint64_t number);
/* probe_ns: what an empty call shows as its duration, in which nothing is done. */
void axis_fit(const struct axis *a, uint64_t probe_ns, struct axis_fit *fit);
/* Returns the call's own part of a duration, as far as the time of the probe does not hide it. */
double axis_without_probe(double duration_ns, uint64_t probe_ns);

/* The fit is good, the range wide. */
bool axis_follows(const struct axis_fit *fit);

#endif
