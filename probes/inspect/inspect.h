/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a recording would do, without recording: which objects, functions, probes and exit
 * mechanisms, at which cost, and what prevents it. Only reads files; only measuring the cost needs
 * root.
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
	const char *const *patterns; /* -F patterns */
	size_t n_patterns;
	char *const *argv; /* the command; NULL: attach to pid */
	pid_t pid;
	bool measure; /* measure the costs if this process may */
};

struct inspection {
	unsigned kernel_version; /* as KERNEL_VERSION() */
	struct dso_cache *dsos;
	struct {
		VEC(struct dso *)
	} objects; /* the program comes first */
	size_t n_executables;
	struct target_traits traits;
	struct patterns *patterns;
	struct selection selection;
	struct plan plan;
	struct inprocess *inprocess; /* which functions can be patched; filled when it is shown */
	struct meta_calibration costs[SELFCOST_ROWS_MAX];
	size_t n_costs; /* 0: not measured */
	struct {
		VEC(char *)
	} notices; /* problems that concern the whole recording */
};

/*
 * Inspects a command or process. Returns the errors of program_of_command(), dso_get(),
 * mappings_read() and patterns_parse(), and of selection_missing() if a pattern matches nothing.
 * Release in whatever the outcome is.
 */
int inspect(struct inspection *in, const struct inspect_options *o, struct err *err);
void inspection_release(struct inspection *in);

/*
 * Returns the cost that a call of an empty function adds to its caller, in ns, or NAN if it was not
 * measured or the call is not timed.
 */
double inspection_cost_ns(const struct inspection *in, const struct planned *p);

#endif
