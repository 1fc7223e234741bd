/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which functions can be traced in process, and why others cannot. */
#ifndef ISPOT_PROBES_INSPECT_INPROCESS_H
#define ISPOT_PROBES_INSPECT_INPROCESS_H

#include <stddef.h>

#include "base/vec.h"

struct dso;
struct dso_function;
struct patch_function;
struct patch_plan;

/* The plans of objects; each is made when it is first needed. */
struct inprocess {
	VEC(struct inprocess_object { /* private */
				      struct dso *dso;
				      struct patch_plan *plan;
	})
};

void inprocess_release(struct inprocess *p);
/*
 * Returns why a function cannot be traced in process, as a clause, or NULL if it can. Sets *n_exits
 * to the number of its exit jumps, without the one at the entry.
 */
const char *inprocess_refusal(struct inprocess *p, struct dso *dso, const struct dso_function *f,
			      size_t *n_exits);

/* Returns the plan of such a function. */
const struct patch_function *inprocess_plan(struct inprocess *p, struct dso *dso,
					    const struct dso_function *f);

struct inprocess_reason {
	const char *text;
	size_t n; /* number of functions */
};

struct inprocess_tally {
	size_t n, possible;    /* functions of an object, without aliases and parts */
	size_t sites, islands; /* of the possible functions */
	size_t saves;	       /* sites at which flags or the red zone are live */
	struct {
		VEC(struct inprocess_reason)
	} reasons; /* of the other functions, the most frequent first */
};

void inprocess_tally(struct inprocess *p, struct dso *dso, struct inprocess_tally *out);
void inprocess_tally_release(struct inprocess_tally *t);

#endif
