/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One row of sibling calls (of a thread, or inside one call), folded by a dictionary of patterns,
 * with the times of every sequence found. Elements stay open while a further call may still belong
 * to them, and are then settled:
 *
 *	calls -> folded loops -> settled elements -> pairs -> the folded row (a call's body)
 *
 * Memory: twice the longest loop of the dictionary, and TRACK_ROW elements of the folded row.
 */
#ifndef ISPOT_ANALYSIS_SEQUENCE_TRACK_H
#define ISPOT_ANALYSIS_SEQUENCE_TRACK_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/sequence/pattern.h"
#include "analysis/threads/threads.h"

#define TRACK_ROW   64 /* elements that are kept of a folded row */
#define TRACK_DEPTH 6  /* nested loops that end at the same call and may still grow */

/* Sums over the calls of a row up to some moment. */
struct row_sums {
	uint64_t calls;	     /* calls, including those inside */
	uint64_t raw_ns;     /* uncorrected durations */
	uint64_t cost_ns;    /* cost of probing inside these durations */
	uint64_t between_ns; /* cost of probing outside of them, by the median */
	uint32_t untimed;    /* calls without a known end */
	double lost_ns;	     /* own lost time, without that of calls inside (owner.h) */
};

/* A moment at which a sequence may begin or end, with the sums of the row so far. */
struct mark {
	uint64_t time_ns;
	struct offcpu off; /* of the thread, so far */
	struct row_sums row;
	uint64_t own_cost_ns; /* of a begin: the cost of probing the call that begins, inside its
			       * duration */
	uint32_t cpu, function;
	uint32_t stack, caller; /* of the call that begins; 0: unknown */
};

struct element {
	uint32_t symbol, repetitions;
	struct mark begin, end;
	/* Sequences that end here and may still grow: [0] the element's latest repetition, [1] the
	 * latest repetition of its last element, and so on down to a call. */
	uint32_t depth;
	struct {
		uint32_t repetitions;
		struct mark begin;
	} open[TRACK_DEPTH];
};

/* Returns the own lost time of the element's calls. */
static inline double element_lost_ns(const struct element *e)
{
	return e->end.row.lost_ns - e->begin.row.lost_ns;
}

/* The last element of a row that was added to the transition graph (transition.h). */
struct placed {
	bool any, timed; /* there was an element; its end has a time */
	bool cut;	 /* calls before the first element may be missing */
	uint32_t state;	 /* state of the last element */
	struct mark end; /* end of the last element */
	uint32_t caller; /* function around the row; UINT32_MAX: none */
	uint64_t caller_entry_ns;
};

struct track {
	uint32_t n, room;
	struct element *elements; /* elements that may still grow */
	uint32_t *symbols;	  /* their symbols */
	uint32_t n_row;
	struct element *row; /* the folded row; the oldest elements beyond TRACK_ROW are dropped */
	bool dropped, cut;
	struct row_sums sums; /* sums over the row so far */
	/* Used while pairs.h and turns.h learn. */
	struct {
		uint64_t pair_node; /* serial of the last element */
		uint64_t elements;  /* hash of the elements; a run of equal ones counts once */
		uint32_t settled;   /* the last of these elements */
		uint32_t callee;    /* number of the last call's function in turns.c */
		uint32_t calls;	    /* number of calls; a run of equal ones counts once */
	} learnt;
	struct placed placed;
};

struct track_user {
	void *self;
	/* A sequence occurred, from begin to end. NULL: not needed. */
	void (*seen)(void *self, uint32_t symbol, const struct mark *begin, const struct mark *end);
	/* An element was settled. NULL: not needed. */
	void (*settled)(void *self, struct track *t, uint32_t symbol);
	/* An element of the folded row is complete; called in their order. NULL: not needed. */
	void (*placed)(void *self, struct track *t, const struct element *e);
};

void track_push(struct track *t, struct patterns *p, const struct track_user *u, uint32_t function,
		const struct mark *begin, const struct mark *end);
/* Adds an element that is in no loop of the dictionary. */
void track_add(struct track *t, struct patterns *p, const struct track_user *u, uint32_t symbol,
	       const struct mark *begin, const struct mark *end);
/* Note that a sequence occurred, and that e became element i of whole. */
void track_count(struct patterns *p, const struct track_user *u, uint32_t symbol,
		 const struct mark *begin, const struct mark *end);
void track_note_parent(struct patterns *p, const struct element *e, uint32_t whole, uint32_t i);
/* Ends the row: settles all open elements, and completes the folded row. */
void track_end(struct track *t, struct patterns *p, const struct track_user *u);
/* Clears t for the next row. */
void track_clear(struct track *t);
void track_release(struct track *t);

#endif
