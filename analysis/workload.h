/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Does a block's duration vary because its work does? Two proofs are accepted, and nothing else
 * is called workload:
 *
 * growth    The block takes longer the later it is called (a list that grows). Calls are binned
 *           by the logarithm of their number; over the bins the fastest call doubles at least, on a
 *           line or a power of the number (GSL, r2 >= 0.9), and the bins' fastest calls account
 *           for half of the excess. The fastest call of a bin stands for its work, because
 *           interference seldom reaches every one of a bin's calls.
 * children  Durations follow the number of traced calls made inside (r2 >= 0.95 over calls).
 *           Only for time spent running: a call that waits may well make more calls while it does.
 */
#ifndef ISPOT_ANALYSIS_WORKLOAD_H
#define ISPOT_ANALYSIS_WORKLOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/axis.h"

#define WORKLOAD_BINS_PER_OCTAVE 4
#define WORKLOAD_BINS		 (48 * WORKLOAD_BINS_PER_OCTAVE)

#define WORKLOAD_ARGUMENTS 8

struct workload {
	uint64_t calls, next_edge; /* next_edge: number of the call that opens the next bin */
	uint32_t bin, n_bins;
	struct workload_bin {
		uint64_t calls, sum_ns, min_ns;
	} bins[WORKLOAD_BINS];
	/* regression of duration (y) on calls inside (x) */
	double x, y, xx, xy, yy;
	struct axis *arguments[WORKLOAD_ARGUMENTS]; /* NULL: none recorded */
};

struct workload_fit {
	double growth_r2;    /* NAN: too little to tell */
	double growth_ratio; /* fastest call of the last bin / of the first */
	double growth_share; /* of the excess that the bins' fastest calls account for */
	double children_r2;  /* NAN: the number of calls inside does not vary */
	/* of the integer argument that accounts for most; argument_number from 1, 0: none */
	struct axis_fit argument;
	unsigned argument_number;
};

void workload_add(struct workload *w, uint64_t duration_ns, uint32_t calls_inside);
/* mask: bit n, values[n] is integer argument n + 1. */
void workload_add_arguments(struct workload *w, uint32_t mask, const uint64_t *values,
			    uint64_t duration_ns);
void workload_free(struct workload *w);
void workload_fit(const struct workload *w, struct workload_fit *fit);
/* The fastest calls get slower with the number of the call: more to do, nobody's interference. */
bool workload_grows(const struct workload_fit *fit);

#endif
