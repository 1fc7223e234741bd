/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Executions that take much longer than the others of their kind (Iceberg, Shah and Guyer, ISSTA
 * 2018, section 2.1): for each function, marker and critical section, a line of duration over
 * execution index is fitted by least squares; the executions above it by more than a bound are
 * outliers. The paper's bound is one standard deviation of the durations. A critical section lasts
 * from when a lock was taken to its release, so the wait for the lock is not in it and is reported
 * apart.
 *
 * The recording is read in two passes. The first one counts executions and sums moments; the second
 * one judges each execution, and compares what outliers did with what typical executions did.
 * Memory grows with the blocks, not with the executions: a block has the moments, a histogram, a
 * sample of OUTLIER_SAMPLE executions and the OUTLIER_KEPT outliers that are furthest above the
 * line. Counts and sums cover all executions.
 */
#ifndef ISPOT_ANALYSIS_OUTLIER_OUTLIER_H
#define ISPOT_ANALYSIS_OUTLIER_OUTLIER_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/calls/calls.h"
#include "analysis/calls/shape.h"
#include "analysis/lock/section.h"
#include "analysis/stat/hist.h"
#include "analysis/threads/wait.h"

struct brief;
struct err;
struct meta_function;
struct record;
struct result_options;
struct trace_reader;

#define OUTLIER_KEPT	256
#define OUTLIER_SAMPLE	1024
#define OUTLIER_CALLEES 16 /* distinct callees of an execution, those of callees included */
#define OUTLIER_DEPTH	4  /* how deep these callees are nested */
#define OUTLIER_TOP	UINT32_MAX
#define OUTLIER_TYPICAL 64 /* distinct callees of a block's typical executions */
#define OUTLIER_SCALES	5  /* standard deviations of the robust rule's bound */

enum outlier_rule {
	/* Above the line of least squares by more than one standard deviation. */
	OUTLIER_PAPER,
	/*
	 * Above the line through the medians by more than OUTLIER_SCALES standard deviations, and
	 * by half of what the line expects. Line and deviation are estimated from medians, so that
	 * a few outliers move neither.
	 */
	OUTLIER_ROBUST,
};

enum outlier_count { OUTLIER_FAULTS, OUTLIER_MAJOR_FAULTS, OUTLIER_MISSES, OUTLIER_COUNTS };

/* A callee of an execution, at any depth: a tree in which callers come first. */
struct outlier_callee {
	uint32_t id, calls;
	uint32_t parent; /* index of the callee that called it; OUTLIER_TOP: the execution itself */
	uint64_t ns;
};

/* An outlier. */
struct outlier {
	uint64_t index; /* number among its block's executions in the order of their begin, from
			 * 0 */
	uint64_t entry_ns, duration_ns;
	double residual_ns;   /* time above the line */
	double inside_ns;     /* residuals of calls inside that are outliers of their own blocks */
	uint32_t tid, caller; /* caller: function id, MAP_NONE: none was traced */
	/* Stack ids; 0: not recorded. stack: of the execution, or of the call that took the lock of
	 * a critical section; site: of the call site alone. */
	uint32_t stack, site;
	uint32_t exit_cpu, entry_cpu;
	struct offcpu off;
	uint64_t shape;
	uint64_t paused_ns;    /* how long the runtime stopped all threads of the process during
				* the execution */
	uint64_t safepoint_ns; /* the part of paused_ns that was not for garbage collection */
	uint64_t monitors_ns;  /* how long calls inside waited for monitors, as the runtime
				* recorded it */
	bool contended;	       /* another thread held the lock when it was requested */
	bool rest;	       /* it had more than OUTLIER_CALLEES distinct callees */
	bool passed;	       /* inside_ns explains it, so those calls are reported instead */
	uint32_t counted;      /* bits of enum outlier_count */
	uint64_t counts[OUTLIER_COUNTS];
	uint32_t n_callees;
	struct outlier_callee callees[OUTLIER_CALLEES];
	struct wait_sums *waits; /* its waits, those of callees included; NULL: none */
	/* Set by cause.c: */
	const char *cause; /* static */
	char *evidence;	   /* a clause */
};

/* Number and time of a callee in typical executions. Callees form a tree as in struct outlier. */
struct outlier_usual {
	uint32_t id, parent;
	uint64_t executions, calls, ns; /* executions that called it; their calls of it; time in
					 * it */
};

struct outlier_hint {
	char behaviour; /* A to H as in the paper; 0: not in the paper */
	const char *name;
	double share; /* of the residuals of kept outliers; NAN: the behaviour has no share */
	char *evidence;
};

struct outlier_hints {
	VEC(struct outlier_hint)
};

struct outlier_line {
	double intercept, slope; /* ns, ns per execution */
	double bound_ns;	 /* an execution above the line by more is an outlier */
};

struct outlier_point {
	uint64_t index, ns;
};

struct outlier_block {
	enum block_kind kind;
	uint32_t id;			      /* function id; of a critical section: its group in
					       * struct sections */
	const char *name;		      /* owned by struct outliers */
	const struct meta_function *function; /* of a critical section: the function that takes
					       * the lock */
	uint64_t begun;			      /* executions that left records */
	uint64_t brief;	       /* executions too short to leave records of their own */
	double brief_squares;  /* sum of the squares of the brief executions' durations */
	struct hist durations; /* of timed executions */
	uint32_t threads;
	/* Running means of index (x) and duration (y), and sums of products of the deviations from
	 * them. */
	double n, mean_x, mean_y, xx, xy, yy;
	double stddev_ns;
	struct outlier_line line;
	uint64_t keep_mask; /* an execution is in the sample if the hash of its index is 0 in
			     * these bits */
	struct {
		VEC(struct outlier_point)
	} sample; /* a random sample; all executions while they are few */
	uint64_t divergent, divergent_ns;
	uint64_t idle_ns;   /* part of divergent_ns: idle, for work or a timer, which is no
			     * slowness */
	double residual_ns; /* sum over the outliers */
	/* The parts of divergent, divergent_ns and idle_ns that no other block explains. */
	uint64_t own, own_ns, own_idle_ns;
	struct offcpu off, own_off; /* sums over all outliers, and over the own ones */
	struct wait_sums waits, own_waits;
	struct {
		VEC(struct outlier)
	} kept; /* the largest outliers, sorted by index at the end; own ones have precedence */
	struct {
		uint64_t n;
		struct offcpu off;
		double counts[OUTLIER_COUNTS];
		uint64_t counted[OUTLIER_COUNTS]; /* executions with this counter */
		struct shapes shapes;
		struct {
			VEC(struct outlier_usual)
		} callees;
	} typical;
	struct outlier_hints hints;	/* of all kept outliers */
	struct outlier_hints own_hints; /* of the own ones alone, if not all are own */
};

/* A pause: the runtime stopped all threads of a process. */
struct outlier_pause {
	uint64_t start_ns, end_ns;
	uint32_t tgid;
	bool collects; /* for garbage collection */
};

struct outliers {
	const struct meta *meta;
	enum outlier_rule rule;
	struct {
		VEC(struct outlier_block)
	} blocks;	     /* after outliers_read(): sorted by the own outliers' time that is
			      * not idle, most first */
	struct strtab names; /* names of blocks */
	uint64_t section_ns; /* time in all critical sections, Java's synchronized methods and
			      * blocks included */
	uint64_t start_ns, duration_ns; /* of the recording or window */
	uint64_t lost_records;
	uint64_t brief; /* executions too short to leave records of their own */
	bool switches;	/* context switches were recorded */
	bool locks;	/* critical sections were seen */
	bool monitors;	/* the runtime recorded whether calls waited for monitors */
	/* Used while the recording is read: */
	struct calls calls;
	struct sections sections;
	struct keyed waits;
	bool judging;	       /* the second pass */
	uint32_t *of_function; /* [function id]: block; MAP_NONE: none */
	struct map of_group;
	struct map ran;			    /* set of (block, thread): the thread has executed
					     * the block */
	int8_t counters[META_COUNTERS_MAX]; /* [counter id]: enum outlier_count; -1: none */
	uint32_t counted;		    /* bits of enum outlier_count that are recorded */
	struct {
		VEC(struct outlier_thread *)
	} threads;
	struct {
		VEC(struct outlier_pause)
	} pauses; /* in the order of their ends */
};

/* Reads r twice, from its start. */
int outliers_read(struct outliers *o, struct trace_reader *r, struct result_options *ro,
		  enum outlier_rule rule, struct err *err);
void outliers_release(struct outliers *o);

/* Returns what typical executions did in this callee, or NULL if none of them called it. */
const struct outlier_usual *outlier_usual_of(const struct outlier_block *b, const struct outlier *x,
					     uint32_t callee);

/* Whether the block's executions are critical sections: a lock is held from begin to end. */
static inline bool outlier_is_section(const struct outlier_block *b)
{
	return b->kind == BLOCK_LOCK || b->function->holds_lock;
}

/* Returns the duration that the line expects of an execution. */
static inline double outlier_expected(const struct outlier_block *b, uint64_t index)
{
	double ns = b->line.intercept + b->line.slope * (double)index;

	return ns > 0 ? ns : 0;
}

/* ---- parts, for this folder's files ---- */

/* Returns how long all threads of the process were stopped during an execution. */
uint64_t outlier_paused_ns(const struct outliers *o, const struct thread *t, const struct call *c,
			   uint64_t *safepoint_ns);

/* Judges one execution in the second pass. Returns the time that its own excess, or that of calls
 * inside, explains of the execution around it. */
double outlier_judge(struct outliers *o, struct outlier_block *b, struct outlier *x);

/*
 * Corrects the idle time of the outliers by what is known only at the end of the recording, as
 * reports do (wait_reconsider).
 */
void outlier_reconsider(const struct threads *th, struct outlier_block *b);

/* Sets the name of b, which o owns. */
void outlier_name(struct outliers *o, struct outlier_block *b);

#define OUTLIER_EXPLAINS   0.5 /* share of the residual that is enough for a cause */
#define OUTLIER_FELT_PART  100 /* less than 1/100 of a call's time is not mentioned */
#define OUTLIER_TIMES_MORE 2   /* a count is evidence if it is so many times the typical one */

static inline double outlier_typical_count(const struct outlier_block *b, unsigned i)
{
	return b->typical.counted[i] ? b->typical.counts[i] / (double)b->typical.counted[i] : 0;
}

#endif
