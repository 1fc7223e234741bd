/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One row of sibling calls (of a thread, or inside one call), read in terms of a dictionary of
 * patterns, with the times of every sequence found. What was read stays open for as long as a
 * further call may still belong to it, and is then handed on:
 *
 *	calls -> loops folded -> settled -> pairs -> the row in short (what a call's body is)
 *
 * Memory: twice the longest loop of the dictionary, and TRACK_ROW elements of the row in short.
 */
#ifndef ISPOT_ANALYSIS_SEQUENCE_TRACK_H
#define ISPOT_ANALYSIS_SEQUENCE_TRACK_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/sequence/pattern.h"
#include "analysis/threads/threads.h"

#define TRACK_ROW   64 /* elements of a row in short that are kept */
#define TRACK_DEPTH 6  /* nested loops that end together and may still grow */

/* The sums of the calls of a row, up to some moment. */
struct row_sums {
	uint64_t calls;	     /* with those inside them */
	uint64_t raw_ns;     /* their durations by the clock */
	uint64_t cost_ns;    /* of probing them, as far as it is in these durations */
	uint64_t between_ns; /* and beside them, by the median */
	uint32_t untimed;    /* calls whose end is not known */
};

/* A moment at which a sequence may begin or end, and what was in the row until then. */
struct mark {
	uint64_t time_ns;
	struct offcpu off; /* of the thread */
	struct row_sums row;
	uint64_t own_cost_ns; /* of a begin: of probing the call that begins there, in its duration
			       */
	uint32_t cpu, function;
	uint32_t stack, caller; /* as a call has them: 0 unknown */
};

struct element {
	uint32_t symbol, repetitions;
	struct mark begin, end;
	/* Sequences that end here and may still grow: the element's latest repetition, the latest
	 * repetition of its own last element, … down to a call. */
	uint32_t depth;
	struct {
		uint32_t repetitions;
		struct mark begin;
	} open[TRACK_DEPTH];
};

/* The part of a row that has become steps of the transition graph (transition.h). */
struct placed {
	bool any, timed; /* there was an element, and its end has a time */
	bool cut;	 /* what was before its first element is not known */
	uint32_t state;	 /* of the last element */
	struct mark end; /* of it */
	uint32_t caller; /* function; UINT32_MAX: none */
	uint64_t caller_entry_ns;
};

struct track {
	uint32_t n, room;
	struct element *elements; /* open */
	uint32_t *symbols;	  /* theirs */
	uint32_t n_row;
	struct element *row; /* settled, in short; elements beyond TRACK_ROW are dropped */
	bool dropped, cut;
	struct row_sums sums; /* of the row so far */
	/* While pairs.h and turns.h learn. */
	struct {
		uint64_t pair_node; /* the last element */
		uint64_t elements;  /* what they hash to, runs as one */
		uint32_t settled;   /* the last of them */
		uint32_t callee;    /* the last call */
		uint32_t calls;	    /* runs as one */
	} learnt;
	struct placed placed;
};

struct track_user {
	void *self;
	/* A sequence was seen once, from begin to end. NULL: not wanted */
	void (*seen)(void *self, uint32_t symbol, const struct mark *begin, const struct mark *end);
	/* An element is settled. NULL: not wanted */
	void (*settled)(void *self, struct track *t, uint32_t symbol);
	/* An element of the row in short is as long as it gets; in order. NULL: not wanted */
	void (*placed)(void *self, struct track *t, const struct element *e);
};

void track_push(struct track *t, struct patterns *p, const struct track_user *u, uint32_t function,
		const struct mark *begin, const struct mark *end);
/* An element of which the dictionary's loops know nothing. */
void track_add(struct track *t, struct patterns *p, const struct track_user *u, uint32_t symbol,
	       const struct mark *begin, const struct mark *end);
/* A sequence was seen once; e became an element of whole. */
void track_tell(struct patterns *p, const struct track_user *u, uint32_t symbol,
		const struct mark *begin, const struct mark *end);
void track_note_parent(struct patterns *p, const struct element *e, uint32_t whole);
/* The row ends: all that is open is settled, and its row in short is complete. */
void track_end(struct track *t, struct patterns *p, const struct track_user *u);
/* For the next row. */
void track_clear(struct track *t);
void track_release(struct track *t);

#endif
