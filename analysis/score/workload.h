/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Does a block's duration vary because its work does? Two proofs are accepted; nothing else is
 * called workload:
 *
 * growth    The block takes longer the later it is called (a list that grows). Calls are binned
 *          by the logarithm of their number. Over the bins, the fastest call must at least double,
 *          on a line or a power law of the number (GSL, r2 >= 0.9), and the bins' fastest calls
 *          must account for half of the excess. The fastest call of a bin stands for its work,
 *          because interference rarely affects every call of a bin. The time of the probe, which
 *          is the same in all calls, does not count when the durations are compared.
 *          If some calls have nothing to do (the word is there already), the fastest call is no
 *          evidence. Then the median call, without its time off the CPU, may stand for the work
 *          in the same way. Interference may affect half of the calls, so this needs further
 *          evidence (work.h).
 * children  Durations follow the number of traced calls made inside (r2 >= 0.95 over calls).
 *          This is only for time spent running: a call may make more calls because it waits.
 */
#ifndef ISPOT_ANALYSIS_SCORE_WORKLOAD_H
#define ISPOT_ANALYSIS_SCORE_WORKLOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/score/axis.h"
#include "analysis/threads/threads.h"
#include "base/vec.h"

#define WORKLOAD_BINS_PER_OCTAVE 4
#define WORKLOAD_BINS		 (48 * WORKLOAD_BINS_PER_OCTAVE)

#define WORKLOAD_ARGUMENTS 8
#define WORKLOAD_KEPT	   256 /* calls of a bin for its median, to a few percent */

/* Typical times of a bin, from the calls that were kept. */
struct workload_typical {
	uint64_t median_ns; /* 0: no call */
	double mean_ns;	    /* mean of the durations, each at most the 90th percentile, so that
			     * slow calls do not count */
};

struct workload_bin {
	uint64_t calls, sum_ns, min_ns;
	struct workload_typical typical; /* not set for the last bin */
};

/* Empty if zeroed. Memory grows with the logarithm of the number of calls. Members that every call
 * changes come first, close together. */
struct workload {
	uint64_t calls;
	uint64_t next_turn; /* the lower of next_edge and next_kept */
	double y, yy;	    /* regression of duration (y) on calls inside (x) */
	double x, xx, xy;
	struct workload_bin last;
	uint64_t next_edge; /* number of the call that opens the next bin */
	/* Running times of calls of the last bin: one call of every stride, chosen at random. */
	uint64_t next_kept, stride, random;
	struct {
		VEC(uint64_t)
	} kept;
	struct {
		VEC(struct workload_bin)
	} bins;					    /* those before the last one */
	struct axis *arguments[WORKLOAD_ARGUMENTS]; /* NULL: not recorded */
};

/* How the call that stands for each bin grows over the bins. */
struct workload_growth {
	double r2;    /* of a line or a power law, the better one; NAN: too little data */
	double ratio; /* last bin / first bin */
	double share; /* share of the excess that these calls account for */
};

struct workload_fit {
	struct workload_growth fastest, median;
	double children_r2; /* NAN: the number of calls inside does not vary */
	/* of the integer argument that accounts for most excess; argument_number counts from 1; 0:
	 * none */
	struct axis_fit argument;
	unsigned argument_number;
};

/* Called for a call that begins a new bin, or is to be kept. */
void workload_turn(struct workload *w, uint64_t running_ns);

/* Adds a timed call. off: its time off the CPU. */
static inline void workload_add(struct workload *w, uint64_t duration_ns, const struct offcpu *off,
				uint32_t calls_inside)
{
	double x = calls_inside, y = (double)(int64_t)duration_ns; /* signed: one instruction */
	struct workload_bin *bin = &w->last;

	if (w->calls >= w->next_turn)
		workload_turn(w, offcpu_running_ns(duration_ns, off));
	w->calls++;
	if (!bin->calls++ || duration_ns < bin->min_ns)
		bin->min_ns = duration_ns;
	bin->sum_ns += duration_ns;
	w->y += y;
	w->yy += y * y;
	w->x += x;
	w->xx += x * x;
	w->xy += x * y;
}

/* Adds the arguments of a call. Bit n of mask: values[n] is integer argument n + 1. */
void workload_add_arguments(struct workload *w, uint32_t mask, const uint64_t *values,
			    uint64_t duration_ns);
void workload_release(struct workload *w);
/* probe_ns: as in axis_fit(). */
void workload_fit(const struct workload *w, uint64_t probe_ns, struct workload_fit *fit);
/* Returns the fit of a block without calls. */
struct workload_fit workload_no_fit(void);
/* Whether the fastest calls get slower with the number of the call: more work, not interference. */
bool workload_grows(const struct workload_fit *fit);
/* Whether the median calls get slower with the number of the call. */
bool workload_mostly_grows(const struct workload_fit *fit);

#endif
