/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which functions of the objects at hand can be traced in process, and why not the others. */
#ifndef ISPOT_PROBES_INSPECT_INPROCESS_H
#define ISPOT_PROBES_INSPECT_INPROCESS_H

#include <stddef.h>

#include "base/vec.h"

struct dso;
struct dso_function;
struct patch_plan;

/* The plans of objects, each made when it is asked for first. */
struct inprocess {
	VEC(struct inprocess_object { /* private */
				      struct dso *dso;
				      struct patch_plan *plan;
	})
};

void inprocess_release(struct inprocess *p);
/* Why a function cannot be traced in process, a clause; NULL: it can. *n_exits: its jumps at exits,
 * that at the entry not counted. */
const char *inprocess_refusal(struct inprocess *p, struct dso *dso, const struct dso_function *f,
			      size_t *n_exits);

struct inprocess_reason {
	const char *text;
	size_t n; /* functions */
};

struct inprocess_tally {
	size_t n, possible;    /* functions of an object, aliases and parts not counted */
	size_t sites, islands; /* of those that are possible */
	size_t saves;	       /* sites at which flags or the red zone are live */
	struct {
		VEC(struct inprocess_reason)
	} reasons; /* of the others, the most frequent first */
};

void inprocess_tally(struct inprocess *p, struct dso *dso, struct inprocess_tally *out);
void inprocess_tally_release(struct inprocess_tally *t);

#endif
