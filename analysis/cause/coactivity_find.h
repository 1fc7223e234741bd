/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What ran concurrently with the slow calls of a block: compares the evidence of
 * analysis/evidence/coactivity.h.
 */
#ifndef ISPOT_ANALYSIS_CAUSE_COACTIVITY_FIND_H
#define ISPOT_ANALYSIS_CAUSE_COACTIVITY_FIND_H

struct blocks;
struct coactive;
struct coactives;
struct coactivity;

/* Fills the blocks' coactive lists. Is called after calls_end(). */
void coactivity_find(struct coactivity *co, struct blocks *blocks);

/*
 * Does the same for groups of calls, whose ids are their numbers, if the calls were grouped when
 * the evidence was collected. Is called before the functions' evidence is released.
 */
void coactivity_find_groups(struct coactivity *co, struct blocks *groups);

/* Returns the function that ran concurrently most, or NULL if none did. */
const struct coactive *coactive_interferer(const struct coactives *all);

#endif
