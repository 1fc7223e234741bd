/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sequences that repeat (ispot-sci(7), SEQUENCES), each with its own fastest execution:
 *
 *	nested       a call with what it called directly, in order: "f { g h×n }"; from its entry to
 *	             its exit
 *	consecutive  a row of calls of one thread beside each other, at its outermost level or
 *inside one call: "lock unlock"; from its first entry to its last exit
 *
 * Three passes over a recording: loops are learnt, then what repeats in the rows from which they
 * are folded, then everything is measured, so that the first occurrence counts like the last.
 * A nested sequence is told by the functions that it calls, not by what those called in turn, which
 * has sequences of its own: else any branch deep inside would part all that is around it.
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

#define SEQUENCE_DEPTH	256  /* calls nested deeper have no row of their own */
#define SEQUENCE_BODIES 4096 /* nested sequences told apart */

enum sequence_stage { SEQUENCE_LOOPS, SEQUENCE_PAIRS, SEQUENCE_MEASURE };

struct sequences {
	const struct meta *meta;
	const struct calls *calls;
	struct keyed *keyed;		 /* measuring puts the executions here */
	struct transitions *transitions; /* or, if not NULL, the steps between them here */
	enum sequence_stage stage;
	struct patterns patterns;
	struct pairs pairs;
	struct turns turns;
	struct {
		VEC(struct sequence_thread *)
	} threads;		     /* [thread index] */
	const struct thread *thread; /* whose row is being read */
	struct {
		VEC(struct body)
	} bodies;
	struct map body_of; /* hash, probed upwards -> body */
	uint32_t *leaf_of;  /* [function]: its body without callees */
	uint32_t *rest_of;  /* [function]: its bodies that are not told apart */
	uint32_t *group_of; /* [symbol]: group of a consecutive sequence */
	uint64_t not_kept;  /* calls whose body is too long, cut off, or beyond SEQUENCE_BODIES */
	/* After sequences_finish(): of the calls, in the 50 most frequent nested sequences. */
	double share_of_50;
};

/* For one stage after the other: learning ones first. calls, keyed and meta must outlive it.
 * Transitions of functions need no learning. */
void sequences_init(struct sequences *s, const struct meta *meta);
void sequences_begin(struct sequences *s, enum sequence_stage stage, const struct calls *calls,
		     struct keyed *keyed);
struct call_visitor sequences_visitor(struct sequences *s);
struct keyed_rule sequences_rule(struct sequences *s);
/* After keyed_build(): names the blocks, leaves out what was seen once or is only part of another.
 */
void sequences_finish(struct sequences *s, struct blocks *blocks);
void sequences_release(struct sequences *s);

#endif
