/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Loops whose iterations take turns at being of several forms: `a b` now, `a c` or `a d` next, in
 * no order that repeats. Folding finds loops of whatever happened to follow itself, and nearly
 * every call of the function around them is a body of its own. So, of a function whose calls have
 * more than TURNS_BODIES bodies: which of its callees comes behind which is a graph; what can come
 * again behind itself there (a strongly connected component) is a loop. If it is always entered at
 * the same callee, an iteration goes from one of these to the next (a natural loop and its header),
 * else each callee is one. All forms that the iterations have are one element of the row, a choice,
 * "(a b | a c)×n".
 *
 * Rows of at most TURNS_ROW calls are no loops but statements that look alike. Memory: of every
 * function TURNS_CALLEES callees, beyond which it is left as it is, and of a loop TURNS_FORMS
 * forms.
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
	struct turns_function **functions; /* [id]; NULL: it called nothing so far */
	struct map callee_of;		   /* function << 32 | callee -> number among its callees */
	struct map form_of;		   /* choice and elements, probed upwards -> symbol */
	uint32_t n_choices;
};

/* Where a call stands among turns; choice PATTERN_NONE: in none. */
struct turn {
	uint32_t choice;
	bool first; /* an iteration begins with it, a run of it at least */
	bool alone; /* it is one by itself */
};

void turns_init(struct turns *t, uint32_t n_functions);
void turns_release(struct turns *t);

/* Learning: the next of a row of calls in function; *last 0 at its begin, for the next time then.
 */
void turns_next(struct turns *t, uint32_t function, uint32_t *last, uint32_t callee);
/* A row ended: what its elements hash to, and how many calls that was, runs as one. */
void turns_row(struct turns *t, uint32_t function, uint64_t elements, uint32_t n);
/* All are known: choices become patterns of p, to which forms are added as they come. */
void turns_decide(struct turns *t, struct patterns *p);

struct turn turns_of(const struct turns *t, uint32_t function, uint32_t callee);
/* An iteration, as a row in short, was of one of the forms, which is told to u like any sequence.
 */
void turns_take(struct turns *t, struct patterns *p, const struct track_user *u, uint32_t choice,
		const struct track *iteration);

#endif
