/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Executions that take much longer than the others of their kind (Iceberg, Shah and Guyer, ISSTA
 * 2018, section 2.1): for each function, marker and critical section the line of duration over
 * execution index by least squares, and the executions above it by more than a bound, which the
 * paper has at one standard deviation of the durations. A critical section is from when a lock was
 * taken to its release, so it is inside of the monitor, and its waiting is told apart.
 *
 * Two passes over the recording. The first counts, and sums moments; the second judges each
 * execution, and looks at what divergent ones did that typical ones did not. Memory grows with the
 * blocks, not with executions: of each the moments, a histogram, OUTLIER_SAMPLE of all executions
 * and the OUTLIER_KEPT divergent ones that are furthest above the line. Counts and sums are of all.
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
#define OUTLIER_CALLEES 16 /* of an execution, with what these call, told apart */
#define OUTLIER_DEPTH	4  /* of these, calls inside calls */
#define OUTLIER_TOP	UINT32_MAX
#define OUTLIER_TYPICAL 64 /* callees of typical executions, told apart */
#define OUTLIER_SCALES	5  /* of the robust rule */

enum outlier_rule {
	/* Above the line of least squares by more than one standard deviation. */
	OUTLIER_PAPER,
	/*
	 * Above the line through the medians by more than five standard deviations, as the median
	 * of the distances from it tells them, and by half: the few that it looks for move neither.
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

/* One divergent execution. */
struct outlier {
	uint64_t index; /* of its block's executions, by their begin, from 0 */
	uint64_t entry_ns, duration_ns;
	double residual_ns;   /* above the line */
	double inside_ns;     /* the same of calls in it that are outliers of their own kind */
	uint32_t tid, caller; /* caller: function id, MAP_NONE: none was traced */
	/* Stack ids, 0: not recorded. Its own, of a critical section that of the call which took
	 * the lock; site: of the calling place alone. */
	uint32_t stack, site;
	uint32_t exit_cpu, entry_cpu;
	struct offcpu off;
	uint64_t shape;
	uint64_t paused_ns;    /* its process's runtime had all threads stopped: in it */
	uint64_t safepoint_ns; /* of that not to collect garbage */
	uint64_t monitors_ns;  /* calls in it waited for their locks, as the runtime tells */
	bool contended;	       /* another thread held its lock when it was asked for */
	bool rest;	       /* it had more callees than are told apart */
	bool passed;	       /* inside_ns explains it: it is told of those calls */
	uint32_t counted;      /* bits of enum outlier_count */
	uint64_t counts[OUTLIER_COUNTS];
	uint32_t n_callees;
	struct outlier_callee callees[OUTLIER_CALLEES];
	struct wait_sums *waits; /* what it slept in, callees included; NULL: it did not */
	/* cause.c: */
	const char *cause; /* static */
	char *evidence;	   /* a clause */
};

/*
 * The usual number and time of a callee in the other executions: a tree like that of an execution.
 */
struct outlier_usual {
	uint32_t id, parent;
	uint64_t executions, calls, ns; /* that called it; their calls; time in it */
};

struct outlier_hint {
	char behaviour; /* A to H, as the paper has them; 0: none of its */
	const char *name;
	double share; /* of the residuals that are kept; NAN: it is not about these */
	char *evidence;
};

struct outlier_hints {
	VEC(struct outlier_hint)
};

struct outlier_line {
	double intercept, slope; /* ns, ns per execution */
	double bound_ns;	 /* an execution above the line by more diverges */
};

struct outlier_point {
	uint64_t index, ns;
};

struct outlier_block {
	enum block_kind kind;
	uint32_t id;			      /* function id; a critical section: group of holds */
	const char *name;		      /* owned by struct outliers */
	const struct meta_function *function; /* of a critical section: what takes the lock */
	uint64_t begun;			      /* executions that left records */
	uint64_t brief;	       /* others, too short for that: shorter than any here */
	double brief_squares;  /* of their durations */
	struct hist durations; /* of those that are timed */
	uint32_t threads;
	/* Running means and sums of products about them. */
	double n, mean_x, mean_y, xx, xy, yy;
	double stddev_ns;
	struct outlier_line line;
	uint64_t keep_mask; /* of hashed indices: those that are 0 under it are in the sample */
	struct {
		VEC(struct outlier_point)
	} sample; /* all executions, as long as these are few */
	uint64_t divergent, divergent_ns;
	uint64_t idle_ns;   /* of divergent_ns, waiting for work or a clock: nobody feels it */
	double residual_ns; /* sum over the divergent ones */
	/* The parts of divergent, divergent_ns and idle_ns that no other block explains. */
	uint64_t own, own_ns, own_idle_ns;
	struct {
		VEC(struct outlier)
	} kept; /* by index, once it is over; those that are its own have precedence */
	struct {
		uint64_t n;
		struct offcpu off;
		double counts[OUTLIER_COUNTS];
		uint64_t counted[OUTLIER_COUNTS]; /* executions that did */
		struct shapes shapes;
		struct {
			VEC(struct outlier_usual)
		} callees;
	} typical;
	struct outlier_hints hints;	/* of all that are kept */
	struct outlier_hints own_hints; /* of its own, where some are not */
};

/* All threads of a process were stopped. */
struct outlier_pause {
	uint64_t start_ns, end_ns;
	uint32_t tgid;
	bool collects; /* garbage */
};

struct outliers {
	const struct meta *meta;
	enum outlier_rule rule;
	struct {
		VEC(struct outlier_block)
	} blocks;	     /* after outliers_read(): most divergent time that is not idle first */
	struct strtab names; /* of blocks */
	uint64_t section_ns; /* sum over all critical sections, Java's methods and blocks too */
	uint64_t start_ns, duration_ns; /* of the recording or window */
	uint64_t lost_records;
	uint64_t brief; /* executions too short to be written */
	bool switches;	/* context switches were recorded */
	bool locks;	/* critical sections were seen */
	bool monitors;	/* calls are known to have waited for their lock, or not */
	/* while it is read: */
	struct calls calls;
	struct sections sections;
	struct keyed waits;
	bool judging;	       /* the second pass */
	uint32_t *of_function; /* [id]: block, MAP_NONE */
	struct map of_group;
	struct map ran;			    /* (block, thread): it has run there */
	int8_t counters[META_COUNTERS_MAX]; /* [bit]: enum outlier_count, -1 none */
	uint32_t counted;		    /* bits of enum outlier_count that are recorded */
	struct {
		VEC(struct outlier_thread *)
	} threads;
	struct {
		VEC(struct outlier_pause)
	} pauses; /* by their ends */
};

/* Reads r twice, from its start. */
int outliers_read(struct outliers *o, struct trace_reader *r, struct result_options *ro,
		  enum outlier_rule rule, struct err *err);
void outliers_release(struct outliers *o);

/* Returns what typical executions did in this callee; NULL: none of them called it. */
const struct outlier_usual *outlier_usual_of(const struct outlier_block *b, const struct outlier *x,
					     uint32_t callee);

/* A lock is held from its begin to its end. */
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

/* Judges one execution in the second pass. Returns what it explains of the one around it. */
double outlier_judge(struct outliers *o, struct outlier_block *b, struct outlier *x);

/* Gives it a name, which lives as long as o. */
void outlier_name(struct outliers *o, struct outlier_block *b);

#define OUTLIER_EXPLAINS   0.5 /* of the residual: enough to be its cause */
#define OUTLIER_TIMES_MORE 2   /* than typical, of what is counted: worth a word */

static inline double outlier_typical_count(const struct outlier_block *b, unsigned i)
{
	return b->typical.counted[i] ? b->typical.counts[i] / (double)b->typical.counted[i] : 0;
}

#endif
