/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The plan of a recording, without recording: which objects, functions, probes and exit mechanisms,
 * at which cost, and what stands in the way. Reads files only; measuring the cost is the one part
 * that needs root.
 */
#ifndef ISPOT_PROBES_INSPECT_INSPECT_H
#define ISPOT_PROBES_INSPECT_INSPECT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/vec.h"
#include "probes/cost/selfcost.h"
#include "probes/place/exitmech.h"
#include "probes/place/plan.h"
#include "probes/select/select.h"
#include "trace/meta/meta.h"

struct err;
struct dso;
struct dso_cache;
struct inprocess;

struct inspect_options {
	const char *const *patterns; /* -F words */
	size_t n_patterns;
	char *const *argv; /* the command; NULL: pid */
	pid_t pid;
	bool measure; /* the costs, if this process may */
};

struct inspection {
	unsigned kernel_version; /* KERNEL_VERSION() */
	struct dso_cache *dsos;
	struct {
		VEC(struct dso *)
	} objects; /* the program first */
	size_t n_executables;
	struct target_traits traits;
	struct patterns *patterns;
	struct selection selection;
	struct plan plan;
	struct inprocess *inprocess; /* which functions can be patched; asked when it is shown */
	struct meta_calibration costs[SELFCOST_ROWS_MAX];
	size_t n_costs; /* 0: not measured */
	struct {
		VEC(char *)
	} notices; /* what stands in the way of the whole */
};

/*
 * Errors: program_of_command()'s, dso_get()'s, mappings_read()'s and patterns_parse()'s; a pattern
 * that matches nothing is selection_missing()'s. Release it whatever the outcome.
 */
int inspect(struct inspection *in, const struct inspect_options *o, struct err *err);
void inspection_release(struct inspection *in);

/*
 * Returns the cost of a call of an empty function to its caller, ns; NAN: not measured, or not
 * timed.
 */
double inspection_cost_ns(const struct inspection *in, const struct planned *p);

#endif
