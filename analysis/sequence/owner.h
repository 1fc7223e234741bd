/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Part of sequence.c: which sequence owns the lost time of a call. Sequences contain one another,
 * so a call is in many of them; but its lost time is a part of the recording's lost time, and
 * counts once:
 *
 *  - The row of calls around it is cut into elements that do not overlap. It belongs to the element
 *    that it is in: to the sequence of that element, or to the call's own nested sequence if the
 *    element is the call itself.
 *  - A sequence without the verdict interference owns nothing: each of its elements has its part.
 *
 * Calls inside of a call are in another row, so their lost time is not in it. How much of a call's
 * time is lost is known from its function, which was judged before.
 */
#ifndef ISPOT_ANALYSIS_SEQUENCE_OWNER_H
#define ISPOT_ANALYSIS_SEQUENCE_OWNER_H

#include <stdint.h>

struct block;
struct blocks;
struct call;
struct element;
struct sequences;
struct track;

/* Returns the call's own lost time; less than 0 if it is faster than its function's fastest call.
 */
double sequence_lost_ns(const struct sequences *s, const struct call *c);
/* A track_user's placed(): an element of a row is complete. */
void sequence_placed(void *self, struct track *t, const struct element *e);
/* Sets the lost time of the blocks of all sequences. */
void sequences_share_lost(struct sequences *s, struct blocks *blocks, uint64_t duration_ns);

/*
 * Returns the lost time that a block owns of each function, [function id], in ns; the caller frees
 * it. NULL: it owns none, or is a nested sequence, which owns only what its own function loses.
 * Called after sequences_share_lost().
 */
double *sequence_owned_ns(const struct sequences *s, const struct block *b, uint64_t duration_ns);

#endif
