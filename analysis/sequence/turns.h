/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Loops whose iterations have several forms: `a b` now, `a c` or `a d` next, in no order that
 * repeats. Folding does not find these loops, so nearly every call of the function around them
 * would be a body of its own. Therefore, for a function whose calls have more than TURNS_BODIES
 * bodies, the order of its callees is taken as a graph: which callee comes after which. A strongly
 * connected component of this graph is a loop. If the loop is always entered at the same callee, an
 * iteration lasts from one call of this callee to the next (a natural loop and its header); else
 * each call is an iteration. All forms of the iterations are one element of the row, a choice,
 * "(a b | a c)×n".
 *
 * Rows of at most TURNS_ROW calls are not loops but statements that look alike. Memory:
 * TURNS_CALLEES callees of every function (functions with more have no choices), and TURNS_FORMS
 * forms of a loop.
 */
#ifndef ISPOT_ANALYSIS_SEQUENCE_TURNS_H
#define ISPOT_ANALYSIS_SEQUENCE_TURNS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/sequence/pattern.h"
#include "base/hash.h"

struct track;
struct track_user;

#define TURNS_BODIES  6
#define TURNS_ROW     8
#define TURNS_CALLEES 64
#define TURNS_FORMS   16

struct turns_function;

struct turns {
	uint32_t n_functions;
	struct turns_function **functions; /* [function id]; NULL: it has no callee so far */
	struct map callee_of;		   /* function << 32 | callee -> number of the callee */
	struct map form_of;		   /* hash of choice and elements -> symbol; the next
					    * free key on a collision */
	uint32_t n_choices;
};

/* The role of a callee in a choice. choice PATTERN_NONE: it is in none. */
struct turn {
	uint32_t choice;
	bool first; /* an iteration begins with this callee, or a run of it */
	bool alone; /* each call of it is an iteration */
};

void turns_init(struct turns *t, uint32_t n_functions);
void turns_release(struct turns *t);

/* Learns the next call of a row of calls in function. *last is 0 at the begin of a row, and is set
 * for the next call. */
void turns_next(struct turns *t, uint32_t function, uint32_t *last, uint32_t callee);
/* Learns from a row that ended. elements: hash of its elements; n: number of its calls, where a run
 * of equal ones counts once. */
void turns_row(struct turns *t, uint32_t function, uint64_t elements, uint32_t n);
/* Ends learning: makes patterns of p for the choices. Their forms are added when they occur. */
void turns_decide(struct turns *t, struct patterns *p);

struct turn turns_of(const struct turns *t, uint32_t function, uint32_t callee);
/* Counts an iteration, given as a folded row, for one of the choice's forms, and reports the form
 * to u like any sequence. */
void turns_add(struct turns *t, struct patterns *p, const struct track_user *u, uint32_t choice,
	       const struct track *iteration);

#endif
