/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Passes the findings about callees to their callers: a function whose calls are slow because they
 * wait for input in read() waits for input itself.
 */
#ifndef ISPOT_ANALYSIS_CAUSE_CALLEES_H
#define ISPOT_ANALYSIS_CAUSE_CALLEES_H

struct block;
struct blocks;
struct sci_edge;

/*
 * Is called when all functions have their verdicts: the callers of functions that are idle, or do
 * more work, get the same verdict.
 */
void callees_pass_on(struct blocks *functions);
/* Gives a group of a function's calls the verdict that the function got this way. */
void callees_pass_on_to_group(struct block *group, const struct block *whole);

/* Returns the time in a callee beyond that of its fastest call, in ns. */
double callee_excess(const struct sci_edge *e);

#endif
