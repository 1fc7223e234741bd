/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Compares two groups of recordings of one program, before and after a change: which blocks take
 * longer or shorter now, by more than equal runs differ.
 *
 * Blocks are matched by object, symbol and source file. Both sides are scored against the smaller
 * fastest call of all recordings, so that a change which slows every call is not taken for
 * progress. With a common fastest call, the mean excess of a call changes by as much as the mean
 * duration. This difference is tested, both for the mean and for the mean logarithm (the typical
 * call, which a few very long calls do not hide).
 *
 * The time that a call waits for a CPU is left out of both: it depends on what else the machine
 * does, which differs between runs, and a single run shows only one case. With DIFF_RUNS_ENOUGH
 * recordings on each side, the variation between whole runs is known, and the whole duration is
 * tested as well.
 *
 * The noise of a recording is taken from its slices of time (slices.h); with several recordings on
 * a side, also from their spread, and the larger one counts. The degrees of freedom are those of
 * the spread if it is known. If other programs had the CPUs for different shares of time on the two
 * sides, the threads that a sleep waits for were late by as much: that part of the time asleep is
 * noise, too.
 */
#ifndef ISPOT_ANALYSIS_DIFF_DIFF_H
#define ISPOT_ANALYSIS_DIFF_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/result/grouping.h"
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
	DIFF_CANNOT_TELL, /* no timed calls, or their variation is not known, or hides changes */
	DIFF_ONLY_BEFORE,
	DIFF_ONLY_AFTER,
	DIFF_VERDICTS,
};

/* Returns the verdict's name in JSON. */
const char *diff_verdict_name(enum diff_verdict verdict);
/* Returns the verdict in words for people. */
const char *diff_verdict_words(enum diff_verdict verdict);

/* One recording. */
struct diff_run {
	const char *path;
	struct trace_reader *reader;
	struct grouping grouping; /* by function: what is lost in all is what `ispot report` says */
	struct result result;
	struct slices slices;
};

/* A block on one side: means over the side's recordings; NAN or BLOCK_NONE: unknown. */
struct diff_half {
	uint32_t runs; /* recordings with this block */
	uint64_t calls, timed_calls;
	uint64_t min_ns; /* fastest call on this side */
	uint64_t total_ns;
	double mean_ns;
	double seen_ns;	    /* mean of the runs' mean durations without waits for a CPU, which is
			     * compared */
	double typical_ns;  /* geometric mean of durations without waits for a CPU */
	double cpu_wait_ns; /* mean wait for a CPU per call */
	double sci, lost_threads; /* against the common fastest call */
	double own_mean_ns;	  /* own time per call, without traced callees */
	double own_wait_ns;	  /* of that, the wait for a CPU */
	bool idle;		  /* the block is idle in all recordings */
};

/* Relative change of a mean: 0.1 is 10% more. low and high: its bounds at the level of the test. */
struct diff_change {
	double ratio, low, high;
};

struct diff_block {
	const char *name, *object; /* borrowed from a run */
	uint64_t min_ns;	   /* common fastest call */
	struct diff_half half[DIFF_SIDES];
	struct diff_change mean, typical; /* without waits for a CPU */
	struct diff_change whole;	  /* mean with waits for a CPU; NAN: too few runs */
	double noise; /* noise of the decisive change: equal runs may show as large a change in
		       * its direction */
	enum diff_verdict verdict;
	bool by_typical; /* the verdict is based on typical, because mean is too noisy */
	bool by_whole;	 /* the verdict is based on whole: the change is in the waits for a CPU */
	bool other_probe, other_calls; /* the probes' class or exit differ; numbers of calls
					* differ by more than a factor of 2 */
	bool uncalled;		       /* it was traced on both sides, and called on one alone */
};

struct diff {
	struct {
		VEC(struct diff_run)
	} runs[DIFF_SIDES];
	struct {
		VEC(struct diff_block)
	} blocks; /* changes first, most thread time won or lost first */
	/* Means over the recordings of a side. */
	double duration_ns[DIFF_SIDES], lost_threads[DIFF_SIDES];
	double threads_ns[DIFF_SIDES], lost_ns[DIFF_SIDES];
	bool timed; /* a recording was ended by time or size, so durations are not comparable */
};

#define DIFF_LEVEL	 0.01 /* probability of any false change over all blocks */
#define DIFF_RUNS_ENOUGH 3
#define DIFF_LEAST	 0.02 /* smaller relative changes are noise of equal runs */

/* Reads and compares the recordings of both sides, at least one each. Returns -EINVAL if they
 * cannot be compared. *diff must be released on an error, too. */
int diff_read(struct diff *diff, const char *const *before, size_t n_before,
	      const char *const *after, size_t n_after, struct err *err);
void diff_release(struct diff *diff);

/* Returns the change that the verdict is based on, or mean if the block does not change. */
const struct diff_change *diff_decisive(const struct diff_block *b);

/*
 * Returns how much more thread time the block's own code, without traced callees, takes for the
 * calls of before: negative if time was won. Waits for a CPU are left out unless the verdict is
 * based on them, as in the durations that are compared. A block that was traced on both sides and
 * called on one counts with all its time. NAN: not known; it waits for input on both sides; or its
 * mean moves against its verdict by chance (by_typical).
 */
double diff_moved_ns(const struct diff_block *b);
/* Returns the same as a share of the thread time of before. */
double diff_moved_share(const struct diff *diff, const struct diff_block *b);
/* Whether the block waits for input on both sides, so that a longer time is no loss. */
bool diff_is_idle(const struct diff_block *b);
/* Whether the block's time changed beyond the noise, or all of it is gone or new. */
bool diff_changed(const struct diff_block *b);
/* Returns the file name of the program that a run recorded, or NULL if it is not known. */
const char *diff_program(const struct diff *diff, enum diff_side side, size_t run);

/* Returns by how much the SCI of a slower or new block has grown; NAN for other blocks. */
double diff_growth(const struct diff_block *b);

#endif
