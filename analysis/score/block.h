/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A block: what a report ranks, with its numbers as ispot-sci(7) defines them:
 *
 *	excess_t   sum over thread t's timed outermost calls of (d - d_min), plus (time so far -
 *	           d_min) of calls still open if positive; with sampling, the mean excess of the
 *	           recorded calls times the estimated number of calls
 *	sci        sum of excess_t / sum of T_t, over the threads that ran the block; with sampling
 *	           an estimate, NAN if it is more than the time that there was
 *	self_*     the same over own times of every call against the smallest own time
 *	floor      noise floor, the score that the probes' own jitter would cause: calls, traced
 *	           callees included, times (mean - min of an empty call; for the block's own calls
 *	           at least a fifth of min), plus preempted time, multiplied by the share of probe
 *	           code in the time that the block ran; NAN without calibration
 *	sci_low    sci - floor - sampling error (bootstrap.h; 0 unless calls were sampled), at
 *	           least 0
 *	sci_high   sci + sampling error + untimed calls at the mean excess of the timed ones
 *
 *	lost_threads         own excess that evidence attributes to interference / duration
 *	idle_threads         own excess that waited for input or a timer (wakeup_chain.h) / duration
 *	unexplained_threads  own excess on a CPU that nothing explains / duration: more work, or
 *	                     interference that only counters would show
 *
 * NAN and META_UNKNOWN (BLOCK_NONE) stand for what was not measured.
 */
#ifndef ISPOT_ANALYSIS_SCORE_BLOCK_H
#define ISPOT_ANALYSIS_SCORE_BLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/evidence/counters.h"
#include "analysis/evidence/coactivity.h"
#include "analysis/evidence/samples.h"
#include "analysis/score/judgement.h"
#include "analysis/score/sci.h"
#include "analysis/score/solo.h"
#include "analysis/threads/setclock.h"
#include "analysis/threads/standard.h"
#include "analysis/threads/threads.h"
#include "analysis/score/workload.h"
#include "base/vec.h"
#include "trace/meta/meta.h"

struct meta_frame;
struct meta_function;
struct meta_object;
struct paircost;
struct holding_sums;
struct section;
struct wait_sums;

#define BLOCK_NONE UINT64_MAX

enum block_kind {
	BLOCK_FUNCTION,
	BLOCK_SEQUENCE,
	BLOCK_SITE,
	BLOCK_LOCK,
	BLOCK_MARKER,
	BLOCK_THREAD
};

const char *block_kind_name(enum block_kind kind);

#define SCI_LOW	     0.05
#define SCI_SMALL    0.01 /* smaller scores are not on the first screen */
#define SCI_OVER     1.1  /* a larger estimate means that the sample was too small */
#define LOOP_SHARE   0.05 /* share of the threads' time that makes a marker worthwhile */
#define FLOOR_FACTOR 2	  /* a score below so many noise floors is noise */

struct block {
	enum block_kind kind;
	bool grouped;	  /* it is a group of calls (keyed.h) */
	uint32_t id;	  /* function id; of a thread its index; of a group its number */
	const char *name; /* demangled, or the thread's name */
	bool split;	  /* its groups of calls are blocks as well */
	bool asked;	  /* the user asked for its groups with --key */
	bool alike;	  /* the function or one of its groups, if no group differs and none was
			   * asked for */
	const char *key;  /* distinguishes it from blocks of the same name: a call site,
			   * arguments; NULL: none */
	const struct meta_function *function; /* NULL: a thread */
	const struct meta_object *object;     /* NULL: unknown */
	/* of a lock that threads wait for: what its holders do meanwhile (holding.h); NULL: unknown
	 */
	const struct holding_sums *holding;
	const struct section
		*section; /* of a lock: hold times and holders (section.h); NULL: none */
	const struct meta_frame *place;	   /* frame of a call site in its caller; NULL: none */
	const struct sci_function *sums;   /* NULL: a thread */
	const struct wait_sums *waits;	   /* its sleeps; NULL: not known */
	const struct threads *all_threads; /* threads of the recording; NULL if waits is NULL */
	const struct paircost *cost;
	const struct thread *thread; /* NULL: not a thread */
	uint64_t calls, timed_calls, open_calls, untimed_calls;
	uint64_t estimated_calls; /* BLOCK_NONE: every call was recorded */
	uint64_t outer_calls;	  /* recorded calls that are not inside another call of the block */
	double estimated_outer;	  /* outer_calls and those that sampling left out; 0: all were
				   * recorded */
	uint64_t period;	  /* one call in so many was recorded */
	uint32_t threads;
	uint64_t observed_ns; /* sum of T_t */
	/*
	 * Parts of the time of the threads that made calls: free_ns, in which no thread of the
	 * program held them up; of it asked_ns, in which they ran or waited for a CPU. Neither is
	 * known of threads that ended early and were only summed up.
	 */
	uint64_t free_ns, asked_ns;
	double idle_threads;	    /* own excess that waited for input or a timer / duration */
	double unexplained_threads; /* own excess on a CPU that nothing explains / duration */
	double lost_share;	    /* share of the own excess that is lost_threads */
	double lost_threads, sci, sci_low, sci_high, sci_worst_thread, self_sci, sci_by_shape,
		floor;
	uint64_t lost_records;
	enum verdict verdict;
	bool of_recorder; /* that is VERDICT_NOISE, as ispot itself slows it or what it calls */
	bool in_lost;	  /* its own excess counts for the recording's lost and unexplained time */
	uint64_t total_ns, excess_ns, self_excess_ns, open_ns;
	uint64_t min_ns, p50_ns, p90_ns, p99_ns, max_ns; /* min_ns: d_min, which may be from a
							  * baseline */
	/* Durations in cycles, by the cycle counter at entry and exit, or converted from ns;
	 * BLOCK_NONE: unknown. */
	uint64_t min_cycles, p50_cycles, p99_cycles;
	uint64_t self_min_ns;
	struct block_solo solo;			    /* its calls in the windows of record --solo */
	struct offcpu off_fastest, own_off_fastest; /* time off the CPU of the calls that set
						     * min_ns and self_min_ns */
	bool never_fast; /* the fastest call itself mostly waited for a lock or a CPU */
	/*
	 * A call that need not wait takes next to no time, as when the lock is free or all others
	 * have reached the barrier. So however few calls there were, the fastest possible one is
	 * known.
	 */
	bool fastest_known;
	uint32_t shapes;	  /* number of distinct paths */
	uint64_t shapes_overflow; /* calls of further paths */
	struct workload_fit fit;
	struct work work;	   /* proof that its work varies */
	double pools[CAUSE_POOLS]; /* excess in ns by what threads did; the sum is excess_ns */
	double unexplained[CAUSE_POOLS]; /* parts of the pools that no rule attributed to a cause */
	double unexplained_ns; /* of those, what is not counted as lost; in unexplained_threads */
	double harmless_ns;    /* own excess that rules attribute to more work or to ispot, in ns */
	double harmless[CAUSE_POOLS]; /* harmless_ns by pool: that time is not lost */
	/* Only of sequences: the lost time that is counted in this row (cause/owned.h), by pool;
	 * all 0 if none is. owned_most: the function whose calls lose most of it, owned_most_share:
	 * their part of it; NULL: not known. */
	double owned_ns[CAUSE_POOLS], owned_most_share;
	const struct meta_function *owned_most;
	bool off_known; /* there are switch records; else all own time is in POOL_RUNNING */
	struct block_counters counters;
	double off_cpu_ns;	   /* excess off the CPU, in traced callees, too */
	struct coactives coactive; /* what ran concurrently while it was slow */
	struct block_samples samples;
	struct causes causes;
};

struct blocks {
	VEC(struct block)
};

struct block_options {
	uint64_t duration_ns; /* of the recording or window */
	uint64_t period;      /* one call in so many was recorded */
	/* Returns the fastest call of a block in a baseline recording, or BLOCK_NONE if it has
	 * none. NULL: there is no baseline. */
	uint64_t (*baseline)(void *ctx, const struct block *b, bool own);
	/* Sets the time off the CPU of the baseline's fastest call. */
	void (*baseline_off)(void *ctx, const struct block *b, bool own, struct offcpu *off);
	void *baseline_ctx;
	/* Returns T_t of a thread that may still run. NULL: the recording has ended, so T_t is
	 * known. */
	uint64_t (*observed_ns)(void *ctx, const struct thread *t);
	void *observed_ctx;
	const struct counters *counters; /* NULL: nothing was counted */
};

/* Appends a scored block for every function that was called, in the order of ids. The caller
 * releases the blocks; the judge (analysis/cause/judge.h) sets their verdicts and causes. */
void blocks_build(struct blocks *blocks, struct sci *sci, const struct block_options *o);
/* Sets the durations in cycles of blocks whose times are known. cycles_per_ns: NAN if unknown. */
void blocks_count_cycles(struct blocks *blocks, double cycles_per_ns);
void blocks_release(struct blocks *blocks);
void block_release(struct block *b); /* for a block that is removed from its blocks */

/* Whether the block is a function or a marker, or a group of its calls. */
static inline bool block_is_call(const struct block *b)
{
	return b->kind == BLOCK_FUNCTION || b->kind == BLOCK_MARKER;
}

/* Returns what the block's function waits for, if it is a standard one. */
static inline enum standard_wait block_standard_wait(const struct block *b)
{
	return b->function && b->object ? standard_wait_of_function(b->object->path, b->function)
					: STANDARD_NONE;
}

/* Whether the block is a blocking stack outside all traced calls (site.h), not a call site. */
static inline bool block_is_wait(const struct block *b)
{
	return b->kind == BLOCK_SITE && !b->function;
}

/* Returns the sum of the pools: the block's excess in ns, or 0 if it was not divided. */
static inline double block_pools_ns(const struct block *b)
{
	double sum = 0;

	for (unsigned p = 0; p < CAUSE_POOLS; p++)
		sum += b->pools[p];
	return sum;
}

/*
 * The bounds of fast and slow calls. Fast: up to the median, including its whole histogram bucket,
 * which has most calls if all take about the same time. Slow: from the 90th percentile on, and not
 * fast.
 */
uint64_t block_fast_max_ns(const struct block *b);
uint64_t block_slow_min_ns(const struct block *b);
/* Returns the duration of the fastest call that was seen. min_ns is less if that call waited
 * although a call need not. */
static inline uint64_t block_seen_min_ns(const struct block *b)
{
	return b->sums && b->fastest_known && b->sums->min_ns != BLOCK_NONE &&
			       b->min_ns < b->sums->min_ns
		       ? b->sums->min_ns
		       : b->min_ns;
}
/* Whether the block's own excess is part of the recording's lost and unexplained time. */
static inline bool block_counts(const struct block *b)
{
	return b->verdict == VERDICT_INTERFERENCE || b->unexplained_threads > 0;
}

/* Returns the own excess that is, or may be, interference. */
static inline double block_suspect_threads(const struct block *b)
{
	return b->lost_threads + b->unexplained_threads;
}

/* Returns the own excess by thread, in ns, [thread index], over the blocks that are in_lost; the
 * caller frees it. The scores of threads and the recording's lost time are computed from it. */
double *blocks_thread_excess(const struct blocks *blocks, struct sci *sci,
			     const struct block_options *o);

#endif
