/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reconsiders functions that were skipped because they were too costly, or removed because they
 * proved so. A program changes what it does. A function that was counted in a costly moment, or
 * together with costlier ones, may fit later, so its calls are counted again. The known cost fades
 * with time; once it has faded below the room that is left, the calls are counted. A costly
 * function is counted later, because counting uses the budget, too. Functions that the user looks
 * for, a contended lock first, need not wait for that if they cost a few times the room: they are
 * traced in turns. The throttle removes such a function when the debt is too large, and it returns
 * when the debt is repaid.
 */
#ifndef ISPOT_PROBES_SESSION_AGAIN_H
#define ISPOT_PROBES_SESSION_AGAIN_H

#include <stdbool.h>
#include <stddef.h>

struct attach;
struct budget;
struct count;
struct err;
struct profile;
struct recording;

/*
 * Called at the end of a window: marks the functions that may fit now to be counted, beside those
 * from the plan's index first on. Returns the index of the first of all.
 */
size_t session_ask_again(struct budget *b, struct count *count, struct recording *r,
			 const struct profile *profile, size_t first);
/*
 * Returns functions that were counted and fit, or whose turn it is, to the sets from which the
 * throttle removed them.
 */
int session_rejoin(struct attach *a, struct recording *r, struct err *err);
/* Begins the next turn of functions that are traced in turns, once the debt is repaid, but not
 * while calls are being counted (counting). */
int session_next_turn(struct budget *b, struct attach *a, struct recording *r, bool counting,
		      struct err *err);

#endif
