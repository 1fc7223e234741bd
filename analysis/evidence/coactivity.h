/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What ran concurrently while a block was slow: functions of other threads, the untraced code that
 * follows them, and other processes that had the block's CPU. This applies the co-runner analysis
 * of the datacenter paper (interference is inferred from what runs at the same time) to functions
 * instead of applications. A visitor.
 *
 * Every candidate has a clock (clocks.h), which counts thread-nanoseconds on a CPU: inside a
 * function (callees included); in untraced code between its return and the thread's next record
 * (after a lock function, this is the critical section); or of a process that had the block's CPU
 * while the block was runnable. A record moves only the clocks that it changes, in O(1); a context
 * switch moves those of the thread's open calls.
 *
 * A call's co-activity is what the clocks gained between its entry and its exit, less the part of
 * its own thread, and less what passed while the call waited for a CPU (others then run because it
 * does not). It is stored as a row. A row costs what happened during the call, so only a sample of
 * the calls has one: the first COACTIVITY_ROWS of a block, then one in 2, 4, …, chosen at random,
 * with earlier rows thinned out equally. So the rows are a random sample of the calls at any time,
 * and their number is bounded: when rows or cells are used up, blocks that have more than their
 * share are thinned out. If calls are grouped by an argument, a row has the group of its call, and
 * the rows of a group are a random sample of its calls.
 *
 * analysis/evidence/lift.h compares slow with fast calls; no second pass is needed.
 */
#ifndef ISPOT_ANALYSIS_EVIDENCE_COACTIVITY_H
#define ISPOT_ANALYSIS_EVIDENCE_COACTIVITY_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/calls/calls.h"
#include "analysis/evidence/clocks.h"
#include "analysis/evidence/following.h"
#include "analysis/evidence/lift.h"
#include "base/hash.h"
#include "base/vec.h"

struct block;
struct blocks;
struct call_group;
struct text;

#define COACTIVITY_ROWS	      1024    /* rows of a block */
#define COACTIVITY_ROWS_SPLIT 4096    /* if its calls are grouped: each group has few rows */
#define COACTIVITY_ROWS_LEAST 256     /* rows that a block may have in any case */
#define COACTIVITY_ROWS_ALL   65536   /* rows of all blocks, 40 bytes each */
#define COACTIVITY_CELLS_ALL  8388608 /* cells of all blocks, 8 bytes each */
#define COACTIVITY_OPEN_MAX   512     /* calls being measured at once */
#define COACTIVITY_BLOCKS     2048    /* further blocks are not measured */
#define COACTIVITY_CANDIDATES 4096    /* further candidates are ignored */

enum coactive_part {
	COACTIVE_INSIDE, /* inside a function, its callees included */
	COACTIVE_AFTER,	 /* untraced code between its return and the thread's next record */
	COACTIVE_CPU,	 /* a process that had the block's CPU while it was runnable */
};

const char *coactive_part_name(enum coactive_part part); /* "inside" "after" "cpu" */

struct coactive {
	enum coactive_part part;
	uint32_t id;		/* function id; COACTIVE_CPU: tgid */
	const char *name;	/* demangled function; COACTIVE_CPU: the process; NULL: not known */
	const char *running;	/* COACTIVE_AFTER: the function that most of that code is in; NULL:
				 * several, or not known */
	uint32_t thread;	/* its index, if only one other thread runs it; else UINT32_MAX */
	double lift, low, high; /* bounds of lift; high: INFINITY if fast calls may never meet it */
	double share; /* part of the slow calls' time, 0..1, with more co-activity than in fast
		       * calls */
	double slow_rate, fast_rate; /* threads in it on average, during slow and during fast
				      * calls */
};

/* Adds "evict", "code after lock" or "evict (after lock)"; name: the function's, as it is shown. */
void coactive_code(const struct coactive *c, const char *name, struct text *out);

/* Largest share first; at most COACTIVES_MAX. */
#define COACTIVES_MAX 8
struct coactives {
	bool measured; /* enough calls of the block to compare */
	double others; /* other threads of the program that ran meanwhile, on average; NAN: not
			* known */
	VEC(struct coactive)
};

#define COACTIVITY_RUNNING 1 /* candidate: any thread on a CPU; 0 is no candidate */

struct coactivity_candidate {
	enum coactive_part part;
	uint32_t id;
};

struct coactivity_block {
	uint32_t gap, until_next; /* one call in gap is measured, after until_next more */
	bool used;
	struct lift_sample sample;
};

struct coactivity {
	const struct calls *calls;
	const struct call_group *group; /* set by a visitor that is called earlier; NULL: calls
					 * are not grouped */
	struct map candidate_of;	/* process -> candidate */
	struct {
		VEC(struct coactivity_candidate)
	} candidates;
	struct clocks *clocks;
	struct gains gains; /* used while a row is made */
	struct {
		VEC(struct clocks *)
	} spare; /* unused clocks, kept for the next thread that needs its
		  * own */
	struct following following;
	uint32_t *inside_of, *after_of; /* [function id]: candidate, 0: none yet */
	struct {
		VEC(struct coactivity_thread)
	} threads;			 /* [thread index] */
	struct coactivity_block *blocks; /* [function id] */
	uint32_t n_blocks, n_open;
	size_t n_rows, n_cells; /* in all blocks */
	uint64_t random, pairs;
	uint64_t cpus_seen[4]; /* bits of CPU numbers, modulo 256 */
};

void coactivity_init(struct coactivity *co, const struct calls *calls);
/* Rows get the group of their call, which group points to when a call ends. */
void coactivity_group_by(struct coactivity *co, const struct call_group *group);
struct call_visitor coactivity_visitor(struct coactivity *co);
/* The sample of a function's calls, for tests. */
const struct lift_sample *coactivity_sample(const struct coactivity *co, uint32_t id);
void coactivity_release(struct coactivity *co);

#endif
