/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the parts of the co-activity share: coactivity.c follows who is at work, coactivity_rows.c
 * keeps a sample of each block's calls, coactivity_find.c says whom the slow ones met.
 */
#ifndef ISPOT_ANALYSIS_EVIDENCE_COACTIVITY_INTERNAL_H
#define ISPOT_ANALYSIS_EVIDENCE_COACTIVITY_INTERNAL_H

#include "analysis/evidence/coactivity.h"

#define COACTIVITY_RUNNING 1 /* the candidate: any thread on a CPU. 0 is none */

struct coactivity_candidate {
	enum coactive_part part;
	uint32_t id;
};

/* A call that is measured, and the marks of its entry. */
struct coactivity_open {
	uint32_t id, mark, own_mark;
	uint64_t entry_ns;
};

struct coactivity_thread {
	bool running, excluding;
	uint32_t gap;	     /* the candidate that its untraced code counts for, 0: none */
	uint32_t taker;	     /* the process that got its CPU, as a candidate */
	uint32_t stop_mark;  /* excluding: when that began */
	uint64_t stopped_ns; /* the same */
	struct {
		VEC(uint32_t)
	} active; /* candidates of its open calls, outermost first, recursion once */
	struct {
		VEC(struct coactivity_open)
	} open;		    /* innermost last */
	struct clocks *own; /* its own part of the clocks while a call of it is measured */
};

struct coactivity_block {
	uint32_t gap, until_next; /* one call in gap is measured */
	bool used;
	struct lift_sample sample;
};

/* The call that began just now is measured, unless too many are. */
void coactivity_begin(struct coactivity *co, struct coactivity_thread *t, const struct call *c);
/* One that ends: if it was measured it becomes a row. */
void coactivity_end(struct coactivity *co, struct coactivity_thread *t, const struct call *c);

/* A mark in the thread's own clocks, which begin with the first. */
uint32_t coactivity_mark_own(struct coactivity *co, struct coactivity_thread *t, uint64_t time_ns);
/* No call of it is measured any more. */
void coactivity_drop_own(struct coactivity *co, struct coactivity_thread *t);

#endif
