/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A block: what a report ranks. Its numbers as design and ispot-sci(7) define them:
 *
 *	excess_t   sum over thread t's timed outermost calls of (d - d_min), plus (time so far -
 *	           d_min) of calls still open where positive; under sampling the mean excess of its
 *	           recorded calls times its estimated calls
 *	sci        sum of excess_t / sum of T_t, over the threads that ran the block
 *	self_*     the same over own times of every call against the smallest own time
 *	floor      what the probes' own jitter would score: calls, traced callees included, times
 *	           (mean - min of an empty call; the block's own: at least a fifth of min), plus the
 *	           share of preempted time that fell on probe code because it is most of what the
 *	           block ran
 *	           Under sampling an estimate; one of more time than there was is none: NAN
 *	sci_low    sci - floor - what sampling may be off by (bootstrap.h; 0 unless calls were
 *	           sampled), at least 0
 *	sci_high   sci + the same + untimed calls at the mean excess of the timed
 *
 *	lost_threads  the part of the own excess that evidence attributes to interference / duration
 *	idle_threads  the part that waited for the outside (wakeup_chain.h), unexplained_threads the
 *part on a CPU that nothing explains: more work, or interference that counters would show
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
#include "analysis/score/solo.h"
#include "analysis/threads/threads.h"
#include "analysis/score/workload.h"
#include "base/vec.h"

struct meta_frame;
struct meta_function;
struct meta_object;
struct paircost;
struct sci;
struct sci_function;
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

#define SCI_HIGH     0.2 /* the paper's threshold for a real problem */
#define SCI_LOW	     0.05
#define SCI_SMALL    0.01 /* less is not worth a line of the first screen */
#define CALLS_MIN    100  /* fewer timed calls: their fastest may still be a slow one */
#define SCI_OVER     1.1  /* an estimate beyond it says that the sample was too small */
#define LOOP_SHARE   0.05 /* of its threads' time: less is not worth a marker */
#define FLOOR_FACTOR 2	  /* under so many floors a score is noise */

struct block {
	enum block_kind kind;
	bool grouped;	  /* a group of calls (keyed.h) */
	uint32_t id;	  /* function id; thread: its index; grouped: number of its group */
	const char *name; /* demangled, or the thread's name */
	bool split;	  /* a function whose groups by key are blocks as well */
	bool asked;	  /* for: its calls are told apart as --key said */
	bool alike;	  /* it, or one of these, where no key stands out and none was asked for */
	const char *key;  /* what tells it from others of the name: a site, arguments; NULL none */
	const struct meta_function *function; /* NULL: a thread */
	const struct meta_object *object;     /* NULL: unknown */
	const struct section
		*section; /* a lock's: hold times and holders (section.h); NULL: none */
	const struct meta_frame *place;	   /* a call site's, in its caller; NULL: none */
	const struct sci_function *sums;   /* NULL: a thread */
	const struct wait_sums *waits;	   /* its sleeps; NULL: not known */
	const struct threads *all_threads; /* of the recording; NULL as waits */
	const struct paircost *cost;
	const struct thread *thread; /* NULL: not a thread */
	uint64_t calls, timed_calls, open_calls, untimed_calls;
	uint64_t estimated_calls; /* BLOCK_NONE: every call was recorded */
	uint64_t outer_calls;	  /* recorded, inside no other of the block */
	double estimated_outer;	  /* with those that sampling left out; 0: every one was recorded */
	uint64_t period;	  /* one call in so many was recorded, of every function */
	uint32_t threads;
	uint64_t observed_ns;	    /* sum of T_t */
	double idle_threads;	    /* own excess that waited for the outside, as lost_threads */
	double unexplained_threads; /* own excess on a CPU that nothing explains, as lost_threads */
	double lost_share;	    /* of the own excess: the part that is lost_threads */
	double lost_threads, sci, sci_low, sci_high, sci_worst_thread, self_sci, sci_by_shape,
		floor;
	uint64_t lost_records;
	enum verdict verdict;
	bool in_lost; /* its own excess is part of the recording's lost and unexplained time */
	uint64_t total_ns, excess_ns, self_excess_ns, open_ns;
	uint64_t min_ns, p50_ns, p90_ns, p99_ns, max_ns; /* min_ns: d_min, also from a baseline */
	/* The same in cycles: by its stamps, or min_ns and so on converted; BLOCK_NONE: unknown. */
	uint64_t min_cycles, p50_cycles, p99_cycles;
	uint64_t self_min_ns;
	struct block_solo solo; /* what the windows of record --solo say of it */
	struct offcpu off_fastest, own_off_fastest; /* of the calls that the two are of */
	bool never_fast;	  /* the fastest call itself mostly waited for a lock or a CPU */
	uint32_t shapes;	  /* paths told apart */
	uint64_t shapes_overflow; /* calls of paths beyond the table */
	struct workload_fit fit;
	struct work work;	   /* the proof that follows from it */
	double pools[CAUSE_POOLS]; /* excess by where the time went, ns; their sum is excess */
	double unexplained[CAUSE_POOLS]; /* what of the pools no rule took */
	double harmless_ns; /* own excess that a rule attributes to more work or to ispot itself */
	bool off_known;	    /* there are switch records; else own time is all in POOL_RUNNING */
	struct block_counters counters;
	double off_cpu_ns;	   /* excess off the CPU, traced callees included */
	struct coactives coactive; /* who else was at work while it was slow */
	struct block_samples samples;
	struct causes causes;
};

struct blocks {
	VEC(struct block)
};

struct block_options {
	uint64_t duration_ns; /* of the recording or window */
	uint64_t period;      /* one call in so many was recorded */
	/* Fastest call of a block in a baseline recording; BLOCK_NONE: not in it. NULL: no
	 * baseline. */
	uint64_t (*baseline)(void *ctx, const struct block *b, bool own);
	/* The time off the CPU of that call of the baseline. */
	void (*baseline_off)(void *ctx, const struct block *b, bool own, struct offcpu *off);
	void *baseline_ctx;
	/* T_t of a thread that may still run; NULL: the recording has ended and it is known. */
	uint64_t (*observed_ns)(void *ctx, const struct thread *t);
	void *observed_ctx;
	const struct counters *counters; /* NULL: nothing was counted */
};

/* A scored block for every function that was called, in order of id; to be released. What is said
 * of them is the judge's (analysis/cause/judge.h). */
void blocks_build(struct blocks *blocks, struct sci *sci, const struct block_options *o);
/* Sets the cycles of blocks whose times are known. cycles_per_ns: NAN unknown. */
void blocks_count_cycles(struct blocks *blocks, double cycles_per_ns);
void blocks_release(struct blocks *blocks);
void block_release(struct block *b); /* of one that is taken out of them */

/* Whether the block is a function or a marker, or the calls of one that share a key. */
static inline bool block_is_call(const struct block *b)
{
	return b->kind == BLOCK_FUNCTION || b->kind == BLOCK_MARKER;
}

/* A place where threads wait outside every traced call (site.h), no call site. */
static inline bool block_is_wait(const struct block *b)
{
	return b->kind == BLOCK_SITE && !b->function;
}

/* Excess whose kind of time is known, ns: all of it, or none. */
static inline double block_pools_ns(const struct block *b)
{
	double sum = 0;

	for (unsigned p = 0; p < CAUSE_POOLS; p++)
		sum += b->pools[p];
	return sum;
}

/* Fast calls: up to the median, with all of its bucket, which of calls that always take the same
 * time has most. Slow ones: from the 90th percentile, and not fast. */
uint64_t block_fast_max_ns(const struct block *b);
uint64_t block_slow_min_ns(const struct block *b);
/* Whether the block's own excess is part of the recording's lost and unexplained time. */
static inline bool block_counts(const struct block *b)
{
	return b->verdict == VERDICT_INTERFERENCE || b->unexplained_threads > 0;
}

/* Own excess that is, or may be, interference. */
static inline double block_suspect_threads(const struct block *b)
{
	return b->lost_threads + b->unexplained_threads;
}

/*
 * Own excess by thread, ns, [thread index], of the blocks that are in_lost; caller frees.
 * The scores of threads and the trace's lost time come from it.
 */
double *blocks_thread_excess(const struct blocks *blocks, struct sci *sci,
			     const struct block_options *o);

#endif
