/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two groups of recordings of one program, before and after a change: which blocks take longer or
 * shorter now, beyond what equal runs differ by.
 *
 * Blocks are matched by object, symbol and source file. Both sides are scored against the smaller
 * fastest call of all recordings, so a change that slows every call cannot look like progress.
 * With a common fastest call the mean excess of a call differs by as much as the mean duration:
 * that difference is tested (mean, and mean logarithm: the typical call, which a few very long
 * calls do not hide).
 *
 * What a call waited for a CPU is left out of both: it is what else the machine does, which
 * differs from run to run, and of which a single run shows only its own. From DIFF_RUNS_ENOUGH
 * recordings a side on it is known how much runs differ as a whole, and the whole duration is
 * tested as well.
 *
 * The noise of a recording is taken from its slices of time (slices.h), of a side with several
 * recordings also from their spread, whichever is larger; the degrees of freedom are those of the
 * spread where it is known. Where others had the CPUs for another part of the two sides, those
 * that a thread sleeps for came later by as much: that part of the time asleep is noise, too.
 */
#ifndef ISPOT_ANALYSIS_DIFF_DIFF_H
#define ISPOT_ANALYSIS_DIFF_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/result/result.h"
#include "analysis/result/slices.h"
#include "analysis/score/block.h"

struct err;
struct trace_reader;

enum diff_side { DIFF_BEFORE, DIFF_AFTER, DIFF_SIDES };

enum diff_verdict {
	DIFF_SLOWER,
	DIFF_FASTER,
	DIFF_SAME, /* no change beyond the noise */
	DIFF_TOO_FEW_CALLS,
	DIFF_CANNOT_TELL, /* not timed, or its spread is not known */
	DIFF_ONLY_BEFORE,
	DIFF_ONLY_AFTER,
	DIFF_VERDICTS,
};

const char *diff_verdict_name(enum diff_verdict verdict);

/* One recording. */
struct diff_run {
	const char *path;
	struct trace_reader *reader;
	struct result result;
	struct slices slices;
};

/* A block on one side; means over its recordings. Unknown: NAN, BLOCK_NONE. */
struct diff_half {
	uint32_t runs; /* recordings that have it */
	uint64_t calls, timed_calls;
	uint64_t min_ns; /* its own fastest call */
	uint64_t total_ns;
	double mean_ns;
	double seen_ns;	    /* what is compared: mean of the runs, without waiting for a CPU */
	double cpu_wait_ns; /* that wait, a call */
	double sci, lost_threads; /* against the common fastest call */
	double own_mean_ns;	  /* of a call, without traced callees */
	bool idle;		  /* waited for work in each of them */
};

/* Relative change of a mean: 0.1 is 10 % more. low and high bound it at the level of the test. */
struct diff_change {
	double ratio, low, high;
};

struct diff_block {
	const char *name, *object; /* borrowed from a run */
	uint64_t min_ns;	   /* common fastest call */
	struct diff_half half[DIFF_SIDES];
	struct diff_change mean, typical; /* without waiting for a CPU */
	struct diff_change whole;	  /* mean with it; NAN: too few runs to say */
	double noise; /* of what the verdict rests on: a change as large, that way, equal runs could
			 show */
	enum diff_verdict verdict;
	bool by_typical; /* the verdict rests on the typical call, the mean is too noisy */
	bool by_whole;	 /* only with the wait for CPUs it is a change */
	bool other_probe, other_calls; /* probe class or exit differ; calls differ more than twofold
					*/
};

struct diff {
	struct {
		VEC(struct diff_run)
	} runs[DIFF_SIDES];
	struct {
		VEC(struct diff_block)
	} blocks; /* changes first, those that won or lost most thread time before others */
	/* means over the recordings */
	double duration_ns[DIFF_SIDES], lost_threads[DIFF_SIDES];
	double threads_ns[DIFF_SIDES], lost_ns[DIFF_SIDES];
	bool timed; /* some recording was ended by the clock: its duration says nothing */
};

#define DIFF_LEVEL	 0.01 /* chance of one false change, all blocks together */
#define DIFF_RUNS_ENOUGH 3
#define DIFF_LEAST	 0.02 /* a smaller relative change is none: runs of a program differ so much */

/*
 * paths: recordings of a side, at least one each. -EINVAL: recordings that cannot be compared.
 * On an error too *diff is to be released.
 */
int diff_read(struct diff *diff, const char *const *before, size_t n_before,
	      const char *const *after, size_t n_after, struct err *err);
void diff_release(struct diff *diff);

/*
 * Returns the change that the verdict rests on; for a block that does not change, the change of the
 * mean.
 */
const struct diff_change *diff_decisive(const struct diff_block *b);

/* Thread time that as many calls as before take more than they did, without traced callees; NAN:
 * not known. */
double diff_moved_ns(const struct diff_block *b);

/* How much a slower or new block's SCI has grown, NAN: it has not. */
double diff_growth(const struct diff_block *b);

#endif
