/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The sums that the SCI (slowdown caused by interference, Mosli Bouksiaa et al., TPDS 2019, section
 * 2) needs of every function and of every (thread, function) pair, gathered in one pass. The score
 * itself needs the fastest call, which is known at the end: block.c computes it from these sums.
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
	uint64_t timed, timed_ns;   /* outer, and their durations */
	uint64_t own_timed, own_ns; /* all calls, and their own times */
	uint64_t ended_open;
	uint64_t open, open_ns; /* open at the end, outer: count, time so far */
	uint64_t own_open, own_open_ns;
	uint64_t unrecorded, unrecorded_outer; /* calls that sampling left out */
	uint64_t ended, ended_observed_ns; /* threads that were summed up here (ended.h), theirs */
};

/*
 * An open call shorter than the fastest call known by then: whether it adds anything is known at
 * the end. A function keeps OPEN_SHORT_MAX, further ones add nothing, which stays a lower bound.
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
#define SCI_EDGE_SLOTS 64 /* a quarter is taken at most: looking for one ends soon */

/*
 * The members that every call changes stand together, first: with many functions, cache misses are
 * the cost.
 */
struct sci_function {
	uint64_t ends[CALL_ENDS], calls; /* every call, by how it ended */
	uint64_t brief; /* of calls: those that were only summed up (--keep-slower) */
	uint64_t own_timed;
	uint64_t raw_ns;		 /* outer timed calls, not corrected */
	uint64_t min_ns, own_min_ns;	 /* d_min; UINT64_MAX: no call could set it */
	uint64_t inside, inside_cost_ns; /* traced calls inside those, and what probing them cost */
	struct shapes *shapes;		 /* NULL while no call had a callee */
	struct switching switching;	 /* what its sleeps took on a CPU */
	struct workload workload;
	struct hist durations; /* of outer timed calls, corrected */
	uint32_t n_edges;
	uint8_t edge_at[SCI_EDGE_SLOTS]; /* by callee's id, and on from there: its edge; 0: none */
	struct sci_edge edges[SCI_EDGES_MAX + 1]; /* 1 to n_edges; [0]: of further callees */
	struct offcpu off, off_fastest;		  /* outer timed calls: sums, and of the fastest */
	struct offcpu own_off, own_off_fastest;
	struct offcpu open_off, own_open_off; /* of calls that had not ended */
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
	bool of_holds;	     /* its calls are times that a lock is held, not waits for one */
	bool migrants_count; /* clocks agree across CPUs: a migrated call may be the fastest */
	struct {
		VEC(struct sci_cell)
	} cells; /* [slot] */
	struct {
		VEC(struct sci_function *)
	} functions; /* [id]; NULL: never called */
	/* How long a thread that has ended was observed by this; NULL: thread_observed_ns() */
	uint64_t (*observed_ns)(void *ctx, const struct thread *t);
	void *observed_ctx;
	const struct keyed *keyed; /* ids are its groups; NULL: ids are functions */
	uint64_t negative, open_calls;
	uint64_t ends[CALL_ENDS];
};

void sci_init(struct sci *s, struct calls *calls, const struct meta *meta);
struct call_visitor sci_visitor(struct sci *s);
void sci_release(struct sci *s);

/*
 * Adds a call under another id and slot, as the visitor does; and a timed call's share in the block
 * that it is in.
 */
void sci_add(struct sci *s, uint32_t id, uint32_t slot, bool recursive, const struct call *c);
void sci_add_edge(struct sci *s, uint32_t parent_id, const struct call *c);

static inline struct sci_function *sci_function(const struct sci *s, uint32_t id)
{
	return id < s->functions.n ? s->functions.data[id] : NULL;
}
uint32_t sci_function_id(const struct sci *s, uint32_t id);	 /* the function behind an id */
const struct slot *sci_slot(const struct sci *s, uint32_t slot); /* its thread and id */

#endif
