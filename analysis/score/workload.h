/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Does a block's duration vary because its work does? Two proofs are accepted, and nothing else
 * is called workload:
 *
 * growth    The block takes longer the later it is called (a list that grows). Calls are binned
 *           by the logarithm of their number; over the bins the fastest call doubles at least, on a
 *           line or a power of the number (GSL, r2 >= 0.9), and the bins' fastest calls account
 *           for half of the excess. The fastest call of a bin stands for its work, because
 *           interference seldom reaches every one of a bin's calls. The time of the probe, which
 *           is the same in all of them, is no part of what doubles.
 *           Where some calls have nothing to do (the word is there already), the fastest says
 *           nothing. Then the median call, without its time off the CPU, may stand for the
 *           others' work in the same way; as interference does reach half of the calls at times,
 *           more must be known of the block to believe it (work.h).
 * children  Durations follow the number of traced calls made inside (r2 >= 0.95 over calls).
 *           Only for time spent running: a call that waits may well make more calls while it does.
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
#define WORKLOAD_KEPT	   256 /* calls of a bin that give its median, to some percent */

/* Typical times, of the calls that were kept of a bin. */
struct workload_typical {
	uint64_t median_ns; /* 0: none */
	double mean_ns;	    /* of each call, at most their 90th percentile: slow is beyond it */
};

struct workload_bin {
	uint64_t calls, sum_ns, min_ns;
	struct workload_typical typical; /* the last bin: not yet */
};

/* Zeroed: no calls. Memory grows with the logarithm of their number. What every call changes stands
 * together, first. */
struct workload {
	uint64_t calls;
	uint64_t next_turn; /* the lower of next_edge and next_kept */
	double y, yy;	    /* regression of duration (y) on calls inside (x) */
	double x, xx, xy;
	struct workload_bin last;
	uint64_t next_edge; /* number of the call that opens the next bin */
	/*
	 * Calls kept of the last bin: one of every stride, chosen at random, as its time on a CPU.
	 */
	uint64_t next_kept, stride, random;
	struct {
		VEC(uint64_t)
	} kept;
	struct {
		VEC(struct workload_bin)
	} bins;					    /* before the last */
	struct axis *arguments[WORKLOAD_ARGUMENTS]; /* NULL: none recorded */
};

/* Over the bins, the call that stands for each. */
struct workload_growth {
	double r2;    /* of a line or a power, the better; NAN: too little to tell */
	double ratio; /* last bin / first */
	double share; /* of the excess that these calls account for */
};

struct workload_fit {
	struct workload_growth fastest, median;
	double children_r2; /* NAN: the number of calls inside does not vary */
	/* of the integer argument that accounts for most; argument_number from 1, 0: none */
	struct axis_fit argument;
	unsigned argument_number;
};

/* A bin is full, or this call is one of those to be kept. */
void workload_turn(struct workload *w, uint64_t running_ns);

/* off: of the duration. */
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

/* mask: bit n, values[n] is integer argument n + 1. */
void workload_add_arguments(struct workload *w, uint32_t mask, const uint64_t *values,
			    uint64_t duration_ns);
void workload_release(struct workload *w);
/* probe_ns: as of axis_fit(). */
void workload_fit(const struct workload *w, uint64_t probe_ns, struct workload_fit *fit);
/* Returns the fit of a block without calls. */
struct workload_fit workload_no_fit(void);
/* The fastest calls get slower with the number of the call: more to do, nobody's interference. */
bool workload_grows(const struct workload_fit *fit);
/* The median calls do. */
bool workload_mostly_grows(const struct workload_fit *fit);

#endif
