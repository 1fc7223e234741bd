/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sets of probes: builds them from the plan, describes them in the file, and rebuilds them without
 * some functions. */
#ifndef ISPOT_PROBES_SESSION_SET_H
#define ISPOT_PROBES_SESSION_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/meta/meta.h"

struct attach;
struct costs;
struct err;
struct planned;
struct probeset;
struct recording;

/* The reasons of functions that are skipped for their cost: before, and after they were traced. */
extern const char session_over_budget[], session_over_budget_traced[];
/*
 * Builds a set of the planned functions from index first on, and describes it in the file. *set is
 * NULL if the set is empty.
 */
int session_build_set(struct recording *r, const struct costs *costs, size_t first,
		      struct probeset **set, struct err *err);
/* Builds such a set and opens it on the targets. *added is false if the set is empty. */
int session_add_set(struct attach *attach, struct recording *r, const struct costs *costs,
		    size_t first, bool *added, struct err *err);
/* Removes the probes of the touched sets (one flag each). */
void session_quiet_sets(struct recording *r, const bool *touched);
/*
 * Rebuilds the touched sets (one flag each) without the functions that are no longer possible. The
 * sets must be quiet.
 */
int session_rebuild_sets(struct attach *attach, struct recording *r, const bool *touched,
			 struct err *err);
/* traced_until_ns: when the function's probes were removed, or 0 if it had none. */
void session_describe_left_out(struct recording *r, const struct planned *p,
			       uint64_t traced_until_ns);
/* Writes that the throttle removed the function's probes at the first time, and that they returned
 * at the second. */
void session_describe_again(struct recording *r, const struct planned *p, uint64_t traced_until_ns,
			    uint64_t traced_again_ns);
struct meta_not_traced session_left_out(const struct planned *p); /* borrows the names */
/* Writes the functions that the first of two passes skipped. */
void session_write_left_out(struct recording *r);
/* For probeset_create(): notes that the kernel refused a probe. ctx is the recording. */
void session_point_refused(void *ctx, uint32_t function_id, int errnum);

#endif
