/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Carries the findings about callees to their callers: a function whose calls are slow because they
 * wait for input in read() waits for input.
 */
#ifndef ISPOT_ANALYSIS_CAUSE_CALLEES_H
#define ISPOT_ANALYSIS_CAUSE_CALLEES_H

struct block;
struct blocks;
struct sci_edge;

/* Once all functions have their verdicts: callers of what is idle, or does more work, get theirs.
 */
void callees_pass_on(struct blocks *functions);
/* The same for a group of a function's calls: what became of the function. */
void callees_pass_on_to_group(struct block *group, const struct block *whole);

/* Time in a callee beyond that of its fastest call, in ns. */
double callee_excess(const struct sci_edge *e);

#endif
