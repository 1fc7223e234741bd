/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sequences that repeat (ispot-sci(7), SEQUENCES), each with its own fastest execution:
 *
 *	nested       a call with its direct calls, in order: "f { g h×n }"; from its entry to its
 *	             exit
 *	consecutive  a row of successive calls of one thread, at its outermost level or inside one
 *	             call: "lock unlock"; from the entry of the first to the exit of the last
 *
 * Three passes over a recording: the first learns loops, the second learns what repeats in the rows
 * whose loops are folded, and the third measures everything, so that the first occurrence counts
 * like the last. A nested sequence is identified by the functions that it calls directly, not by
 * what those call: these have sequences of their own, and otherwise any branch deep inside would
 * split all sequences around it.
 */
#ifndef ISPOT_ANALYSIS_SEQUENCE_SEQUENCE_H
#define ISPOT_ANALYSIS_SEQUENCE_SEQUENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/calls/calls.h"
#include "analysis/score/block.h"
#include "analysis/score/keyed.h"
#include "analysis/sequence/pairs.h"
#include "analysis/sequence/pattern.h"
#include "analysis/sequence/transition.h"
#include "analysis/sequence/turns.h"

#define SEQUENCE_DEPTH	256  /* deeper calls are in no row */
#define SEQUENCE_BODIES 4096 /* further nested sequences are not kept apart */

/* How much the calls of a function lose themselves: share of what they take beyond min_ns. */
struct sequence_loss {
	double share;
	uint64_t min_ns;
};

enum sequence_stage { SEQUENCE_LOOPS, SEQUENCE_PAIRS, SEQUENCE_MEASURE };

struct sequences {
	const struct meta *meta;
	const struct calls *calls;
	struct keyed *keyed;		 /* measuring adds the executions here */
	struct transitions *transitions; /* if not NULL, measuring adds the transitions here
					  * instead */
	enum sequence_stage stage;
	struct patterns patterns;
	struct pairs pairs;
	struct turns turns;
	struct {
		VEC(struct sequence_thread *)
	} threads;		     /* [thread index] */
	const struct thread *thread; /* thread of the present call */
	struct {
		VEC(struct body)
	} bodies;
	struct map body_of;	      /* hash -> body; the next free key on a collision */
	uint32_t *leaf_of;	      /* [function id]: its body without callees */
	uint32_t *rest_of;	      /* [function id]: body that stands for its other bodies */
	uint32_t *group_of;	      /* [symbol]: group of a consecutive sequence */
	struct sequence_loss *losses; /* [function id]; NULL: not known */
	double *placed_ns;	      /* [symbol]: lost time of the elements of rows (owner.h) */
	uint64_t not_kept; /* calls whose body is too long, cut off, or beyond SEQUENCE_BODIES */
	/* Share of all calls in the 50 most frequent nested sequences. Set by
	 * sequences_finish(). */
	double share_of_50;
};

/* Begin an analysis, and each of its stages in the order of enum sequence_stage. calls, keyed and
 * meta must outlive s. Transitions between functions need only the last stage. */
void sequences_init(struct sequences *s, const struct meta *meta);
void sequences_begin(struct sequences *s, enum sequence_stage stage, const struct calls *calls,
		     struct keyed *keyed);
/* Sets, before measuring, how much calls of a function lose. */
void sequences_set_loss(struct sequences *s, uint32_t function, struct sequence_loss loss);
struct call_visitor sequences_visitor(struct sequences *s);
struct keyed_rule sequences_rule(struct sequences *s);
/*
 * Names the blocks, drops sequences that occurred once or are always part of another one, and gives
 * each part of the lost time to one of the others, so that their sum is no more than it is.
 * duration_ns: of which a block's lost_threads are a share. Called after the blocks are judged.
 */
void sequences_finish(struct sequences *s, struct blocks *blocks, uint64_t duration_ns);
void sequences_release(struct sequences *s);

#endif
