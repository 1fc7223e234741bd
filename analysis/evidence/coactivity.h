/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Who was at work while a block was slow: functions of other threads, the code that follows them,
 * and other processes that had its CPU. What the datacenter paper's co-runner analysis is to
 * applications (interference is read off who else runs), to functions. A visitor.
 *
 * Every candidate has a clock (clocks.h): thread-nanoseconds on a CPU inside that function
 * (callees included), in untraced code between its return and the thread's next record (after a
 * lock function: the critical section), or, of a process, of having the block's CPU while it was
 * runnable. A record moves the clocks it changes, O(1); a switch moves those of the thread's open
 * calls. A call's co-activity is what the clocks gained between its entry and its exit, less its
 * own thread's part and less what passed while it waited for a CPU (others run then because it
 * does not). That is a row, which costs what happened during the call, so not every call has one:
 * the first COACTIVITY_ROWS of a block, then one in 2, 4, …, chosen at random, the earlier ones
 * thinned out alike; what is kept is at all times a fair sample of the calls so far, and bounded:
 * when rows or cells are used up, blocks that have more than their share are thinned out.
 * A row knows the group of its call where calls are grouped by an argument: the rows of one group
 * are a fair sample of its calls.
 *
 * analysis/evidence/lift.h compares slow with fast calls; no second pass is needed.
 */
#ifndef ISPOT_ANALYSIS_EVIDENCE_COACTIVITY_H
#define ISPOT_ANALYSIS_EVIDENCE_COACTIVITY_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/calls/calls.h"
#include "analysis/evidence/clocks.h"
#include "analysis/evidence/lift.h"
#include "base/hash.h"
#include "base/vec.h"

struct block;
struct blocks;
struct call_group;

#define COACTIVITY_ROWS	      1024    /* of a block */
#define COACTIVITY_ROWS_SPLIT 4096    /* of one whose calls are in groups, each of which has few */
#define COACTIVITY_ROWS_LEAST 256     /* that a block may have, however many share */
#define COACTIVITY_ROWS_ALL   65536   /* 40 bytes each */
#define COACTIVITY_CELLS_ALL  8388608 /* 8 bytes each */
#define COACTIVITY_OPEN_MAX   512     /* calls being measured at once */
#define COACTIVITY_BLOCKS     2048    /* further ones are not measured */
#define COACTIVITY_CANDIDATES 4096    /* further ones are not looked at */

enum coactive_part {
	COACTIVE_INSIDE, /* of a function, its callees included */
	COACTIVE_AFTER,	 /* untraced code between its return and the thread's next record */
	COACTIVE_CPU,	 /* a process that had the block's CPU while it was runnable */
};

const char *coactive_part_name(enum coactive_part part); /* "inside" "after" "cpu" */

struct coactive {
	enum coactive_part part;
	uint32_t id;		/* function id; COACTIVE_CPU: tgid */
	const char *name;	/* demangled; COACTIVE_CPU: of the process, NULL: not known */
	uint32_t thread;	/* index, where only one other thread runs it; else UINT32_MAX */
	double lift, low, high; /* high: INFINITY where fast calls may never meet it */
	double share; /* of the slow calls' time: with it, beyond what fast calls have. 0..1 */
	double slow_rate, fast_rate; /* threads in it, on average, during slow and fast calls */
};

/* Largest share first; at most COACTIVES_MAX. */
#define COACTIVES_MAX 8
struct coactives {
	bool measured; /* enough calls of the block to compare */
	double others; /* of the program's threads that ran meanwhile, on average; NAN: not known */
	VEC(struct coactive)
};

#define COACTIVITY_RUNNING 1 /* the candidate: any thread on a CPU. 0 is none */

struct coactivity_candidate {
	enum coactive_part part;
	uint32_t id;
};

struct coactivity_block {
	uint32_t gap, until_next; /* one call in gap is measured */
	bool used;
	struct lift_sample sample;
};

struct coactivity {
	const struct calls *calls;
	const struct call_group *group; /* its owner's visitor comes first; NULL: none */
	struct map candidate_of;	/* process -> candidate */
	struct {
		VEC(struct coactivity_candidate)
	} candidates;
	struct clocks *clocks;
	struct gains gains; /* of the row that is being made */
	struct {
		VEC(struct clocks *)
	} spare;			/* own clocks of threads that need none now */
	uint32_t *inside_of, *after_of; /* [function id]: candidate, 0: none yet */
	struct {
		VEC(struct coactivity_thread)
	} threads;			 /* [thread index] */
	struct coactivity_block *blocks; /* [function id] */
	uint32_t n_blocks, n_open;
	size_t n_rows, n_cells; /* of all blocks */
	uint64_t random, pairs;
	uint64_t cpus_seen[4]; /* bits of CPU numbers, modulo 256 */
};

void coactivity_init(struct coactivity *co, const struct calls *calls);
/* Each call is remembered with its group. */
void coactivity_group_by(struct coactivity *co, const struct call_group *group);
struct call_visitor coactivity_visitor(struct coactivity *co);
/* What is kept of a function's calls, for tests. */
const struct lift_sample *coactivity_sample(const struct coactivity *co, uint32_t id);
void coactivity_release(struct coactivity *co);

#endif
