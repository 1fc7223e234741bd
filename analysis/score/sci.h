/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The sums that the SCI (slowdown caused by interference, Mosli Bouksiaa et al., TPDS 2019, section
 * 2) needs for every function and every (thread, function) pair, collected in one pass. The score
 * needs the fastest call, which is known only at the end: block.c computes it from these sums.
 */
#ifndef ISPOT_ANALYSIS_SCORE_SCI_H
#define ISPOT_ANALYSIS_SCORE_SCI_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/calls/calls.h"
#include "analysis/score/solo.h"
#include "analysis/score/workload.h"
#include "analysis/stat/hist.h"
#include "analysis/threads/switching.h"
#include "analysis/threads/wait.h"

struct keyed;
struct shapes;

/* Sums over one thread's calls of a function; "outer": not inside another call of the function. */
struct sci_cell {
	uint64_t calls, outer_calls;
	uint64_t timed, timed_ns;   /* outer timed calls, and the sum of their durations */
	uint64_t own_timed, own_ns; /* timed calls, and the sum of their own times */
	uint64_t ended_open;
	uint64_t open, open_ns; /* outer calls open at the end, and the sum of their times so far */
	uint64_t own_open, own_open_ns;
	uint64_t unrecorded, unrecorded_outer; /* all and outer calls that sampling left out */
	bool is_told;			       /* how many those are, which may be none */
	uint64_t ended, ended_observed_ns; /* threads that were summed up here (ended.h), and the
					    * sum of their observed times */
};

/*
 * An open call shorter than the fastest call known so far. Whether it has any excess is known only
 * at the end. A function keeps OPEN_SHORT_MAX of these; further ones add no excess, so the sum
 * stays a lower bound.
 */
struct sci_short {
	uint32_t slot;
	bool own;
	uint64_t ns;
};
#define OPEN_SHORT_MAX 256

/* Time in one callee, seen from its caller. */
struct sci_edge {
	uint32_t id;
	uint64_t calls, ns, min_ns;
};
#define SCI_EDGES_MAX  16
#define SCI_EDGE_SLOTS 64 /* at most a quarter is in use, so that searches are short */

/* Members that every call changes come first, close together, because cache misses dominate with
 * many functions. */
struct sci_function {
	uint64_t ends[CALL_ENDS], calls; /* all calls, by how they ended */
	uint64_t brief;			 /* calls that were only summed up (--keep-slower) */
	uint64_t own_timed;
	uint64_t raw_ns;		 /* of outer timed calls, not corrected */
	uint64_t min_ns, own_min_ns;	 /* d_min; UINT64_MAX: no call could set it */
	uint64_t inside, inside_cost_ns; /* traced calls inside those, and the cost of probing
					  * them */
	struct shapes *shapes;		 /* NULL: no call had a callee so far */
	struct switching switching;	 /* CPU time of its sleeps and wakeups */
	struct workload workload;
	struct hist durations; /* of outer timed calls, corrected */
	uint32_t n_edges;
	uint8_t edge_at[SCI_EDGE_SLOTS]; /* hash table with linear probing: index of edges; 0:
					  * free */
	struct sci_edge edges[SCI_EDGES_MAX + 1]; /* 1 to n_edges; [0]: all further callees */
	struct offcpu off, off_fastest;		  /* of outer timed calls, and of the fastest one */
	struct offcpu own_off, own_off_fastest;
	struct offcpu open_off, own_open_off; /* of calls that were open at the end */
	struct wait_sums waits;		      /* sleeps in its own time */
	struct solo_sums solo;		      /* in the windows of record --solo */
	uint64_t migrated;		      /* outer timed calls that ended on another CPU */
	uint64_t lost_records, last_loss;
	struct {
		VEC(struct sci_short)
	} open_short;
};

struct sci {
	struct calls *calls;
	const struct meta *meta;
	bool of_holds;	     /* its calls are hold times of locks, not waits for them */
	bool migrants_count; /* the clock is the same on all CPUs, so a migrated call may be the
			      * fastest */
	struct {
		VEC(struct sci_cell)
	} cells; /* [slot] */
	struct {
		VEC(struct sci_function *)
	} functions; /* [id]; NULL: never called */
	/* Returns how long an ended thread was observed; NULL: thread_observed_ns() does. */
	uint64_t (*observed_ns)(void *ctx, const struct thread *t);
	void *observed_ctx;
	const struct keyed *keyed; /* ids are numbers of its groups; NULL: ids are functions */
	uint64_t negative, open_calls;
	uint64_t ends[CALL_ENDS];
};

void sci_init(struct sci *s, struct calls *calls, const struct meta *meta);
struct call_visitor sci_visitor(struct sci *s);
void sci_release(struct sci *s);

/* sci_add() adds a call under another id and slot than the visitor uses; sci_add_edge() adds a
 * timed call to the callees of its parent. */
void sci_add(struct sci *s, uint32_t id, uint32_t slot, bool recursive, const struct call *c);
void sci_add_edge(struct sci *s, uint32_t parent_id, const struct call *c);

static inline struct sci_function *sci_function(const struct sci *s, uint32_t id)
{
	return id < s->functions.n ? s->functions.data[id] : NULL;
}
uint32_t sci_function_id(const struct sci *s, uint32_t id);	 /* the function of an id */
const struct slot *sci_slot(const struct sci *s, uint32_t slot); /* its thread and id */

#endif
