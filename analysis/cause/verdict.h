/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The verdict on a block: interference, or the reason why it is not. */
#ifndef ISPOT_ANALYSIS_CAUSE_VERDICT_H
#define ISPOT_ANALYSIS_CAUSE_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/score/judgement.h"

struct block;
struct meta_frame;

/* Needs everything about the block except verdict and causes. */
enum verdict block_verdict(const struct block *b);
/*
 * Is called when the causes are known. A block of interference keeps as lost what evidence
 * attributes to interference. If most of the excess is unexplained, its verdict becomes
 * cannot-tell. whole: as for work_proof().
 */
void block_take_unexplained(struct block *b, const struct block *whole, uint64_t duration_ns);

/* Whether most of the excess is time that nothing explains: running, or blocked where no record
 * says who ended the waits. */
bool block_is_unexplained(const struct block *b);
/* Returns the blocked time that nothing explains where no record says who ended the waits, else 0.
 */
double block_unexplained_waits_ns(const struct block *b);
/* Whether that is most of the block's unexplained time. */
bool block_waits_for_unknown(const struct block *b);

/* Whether the function has a loop and is in a file that does not belong to the system. */
bool loop_can_be_marked(const struct meta_frame *f);
/*
 * Returns the block's own frame in a loop that takes much of its threads' time, if the block has
 * too few calls for a verdict, or NULL if no such loop is known. The frame's loop is the line.
 */
const struct meta_frame *block_loop(const struct block *b);
/* Returns the share of its threads' time in such a loop. */
double block_loop_share(const struct block *b);

#endif
