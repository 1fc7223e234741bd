/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whom the slow calls of a block met: the evidence of analysis/evidence/coactivity.h, compared. */
#ifndef ISPOT_ANALYSIS_CAUSE_COACTIVITY_FIND_H
#define ISPOT_ANALYSIS_CAUSE_COACTIVITY_FIND_H

struct blocks;
struct coactive;
struct coactives;
struct coactivity;

/* After calls_end(): fills the blocks' coactive lists. */
void coactivity_find(struct coactivity *co, struct blocks *blocks);

/*
 * The same of groups of calls, [id]: their number, where the calls were grouped when they were
 * looked at. Before the functions' evidence is released.
 */
void coactivity_find_groups(struct coactivity *co, struct blocks *groups);

/* The function that was most at work meanwhile; NULL: none was. */
const struct coactive *coactive_interferer(const struct coactives *all);

#endif
