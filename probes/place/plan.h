/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Plans the probes of the chosen functions: where they sit and how they see the exit, as `record`
 * uses them and `check` shows them.
 */
#ifndef ISPOT_PROBES_PLACE_PLAN_H
#define ISPOT_PROBES_PLACE_PLAN_H

#include <stdbool.h>

#include "base/err.h"
#include "base/vec.h"
#include "probes/place/exitmech.h"
#include "probes/place/operand.h"
#include "probes/place/placement.h"
#include "probes/select/arguments.h"
#include "probes/select/select.h"

struct planned {
	struct selected what;
	struct placement place;
	struct exit_choice exit;
	struct arguments arguments; /* the recorded ones */
	/* code 0: none is wrong. If a glob chose the function, wrong arguments are left out, and it
	 * may still be possible. */
	struct err wrong_arguments;
	bool region; /* a parallel region, in which threads share work (OpenMP) */
	bool possible;
	const char *reason; /* why it is not possible, or ""; lives as long as this struct */

	/*
	 * What the parts of a recording tell each other of the function. What only one part needs
	 * is in the state of that part, by the function's index in the plan.
	 */
	bool is_beside;	 /* code in the processes times the function, not probes */
	uint32_t set;	 /* in which it is or was traced; PLANNED_NO_SET: none yet */
	uint64_t out_ns; /* when the throttle removed its probes from the set; 0: they are there */
	bool told;	 /* the file names it as left out */
	/* The user asked for the function, but tracing it all the time exceeds the budget. So it is
	 * traced in turns, while the budget lasts. */
	bool in_turns;
	/* as samples, counting and tracing measured; NAN: not measured, or with too few samples */
	double cpu_share, calls_per_s, cost_share; /* of samples; 1/s; of the target's CPU time */
};

#define PLANNED_NO_SET UINT32_MAX

struct plan {
	/* allocated one by one: a reason may point into its own placement */
	VEC(struct planned *)
	struct no_key no_key;
	struct operand_rows operands; /* of markers' arguments */
};

/* Plans every element of the selection from index first on. kernel_version: KERNEL_VERSION() */
void plan_add(struct plan *plan, const struct selection *s, size_t first,
	      const struct target_traits *traits, unsigned kernel_version);
void plan_release(struct plan *plan);

bool planned_is_traced(const struct planned *p);
/* Returns whether the calibration measured probes like the function's own. */
bool planned_is_priced_by(const struct planned *p, const struct meta_calibration *c);

/* Fills in the function's meta line, except for the numbers of the set, the function and the
 * object. */
void planned_describe(const struct planned *p, struct meta_function *f);

#endif
