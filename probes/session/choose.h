/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Chooses the functions to trace within the overhead budget, once the cost of each is known. They
 * are chosen by rank, contended locks first. Others are traced in turns, or skipped.
 */
#ifndef ISPOT_PROBES_SESSION_CHOOSE_H
#define ISPOT_PROBES_SESSION_CHOOSE_H

#include <stdbool.h>
#include <stddef.h>

struct plan;
struct planned;
struct recording;

#define HYBRID_HOT_SHARE 0.01 /* of the samples: from here on a function is a candidate */

/* Returns whether threads waited for each other, beyond joining threads. */
bool session_contends(const struct recording *r);
/*
 * Chooses, by rank, those of the n functions that fit into room. The others become impossible for
 * this reason, or in_turns if they fit for a part of the time. contends: locks come first, with the
 * functions that release them; the plan has further locks, which may be traced already. Returns the
 * sum of the chosen functions' costs.
 */
double session_choose(const struct plan *plan, struct planned **planned, size_t n, bool contends,
		      double room, const char *reason);
/* Begins the turn of the functions that are traced in turns. Returns the sum of their costs. */
double session_give_turns(struct planned **candidates, size_t n);
/*
 * Drops functions that release locks if no function that takes such a lock is traced. Returns the
 * sum of their costs.
 */
double session_drop_releases(const struct recording *r, struct planned **candidates, size_t n,
			     const char *reason);

#endif
