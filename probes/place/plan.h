/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From "these functions" to "these probes": placement and exit mechanism of each chosen function,
 * as `record` will use them and `check` shows them.
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
	bool possible;
	/* probes/session/beside.c's: code in the processes times it; before, it was possible */
	bool is_beside, was_possible;
	uint32_t set;	 /* it is traced in, or was; PLANNED_NO_SET: not yet */
	uint64_t out_ns; /* when the throttle took its probes out of the set; 0: they are in it */
	/* probes/session/count.c's: of this round; how often is known; calls before it counts */
	bool asked, counted;
	uint64_t count_before;
	/* throttle.c's, of the last look: calls before it, what those since then cost */
	uint64_t calls_before;
	double cost_ns;
	double cost_lately; /* the share of the target's CPU time that its calls take, traced */
	/* again.c's: what it would cost, less and less known; it is in the file as left out
	 */
	double faded_cost;
	bool told;
	/*
	 * The function is looked for, and costs more than fits all the time: it is traced in turns,
	 * while the budget lasts.
	 */
	bool in_turns;
	bool region;		    /* threads share work out in it, as of OpenMP */
	double rank;		    /* session_choose()'s */
	const struct planned *lock; /* the same: of its candidates, what this one releases */
	struct arguments arguments; /* that are recorded */
	/* code 0: none is; of what a glob chose they are left out, and it may be possible */
	struct err wrong_arguments;
	const char *reason; /* why not possible; "" otherwise. Lives as long as the planned */
	/* what the hybrid selection measured; NAN: not measured, or by too few samples */
	double cpu_share, calls_per_s, cost_share; /* of samples; 1/s; of the target's CPU time */
};

#define PLANNED_NO_SET UINT32_MAX

struct plan {
	VEC(struct planned *) /* heap elements: reason may point into its own placement */
	struct no_key no_key;
	struct operand_rows operands; /* of markers' arguments */
};

/* Plans every element of the selection from index first on; kernel_version as KERNEL_VERSION(). */
void plan_add(struct plan *plan, const struct selection *s, size_t first,
	      const struct target_traits *traits, unsigned kernel_version);
void plan_release(struct plan *plan);

bool planned_is_traced(const struct planned *p);
/* The calibration is of probes as its own are. */
bool planned_is_priced_by(const struct planned *p, const struct meta_calibration *c);

/* The function's meta line data; set, id and object numbers are the caller's to fill. */
void planned_describe(const struct planned *p, struct meta_function *f);

#endif
