/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sums calls by call path: the traced functions that were open around them, outermost first. */
#ifndef ISPOT_REPORT_EXPORT_PATHS_H
#define ISPOT_REPORT_EXPORT_PATHS_H

#include <stdint.h>

#include "base/hash.h"
#include "base/vec.h"

struct call;
struct export;
struct thread;

#define PATH_ROOT UINT32_MAX

/* A path extends the path of index parent by the function id. own_ns: without traced callees. */
struct path {
	uint32_t parent, id;
	uint64_t calls, own_calls, own_ns;
};

struct paths {
	struct map by_step; /* parent, id -> index */
	struct {
		VEC(struct path)
	} all;
	struct {
		VEC(uint64_t)
	} own_min_ns; /* [function id]; UINT64_MAX: no call with own time */
};

/* The begin and call callbacks of formats that use paths. */
void paths_begin(struct export *e);
void paths_call(struct export *e, const struct thread *t, const struct call *c);
/* Returns the own time that the path's calls would take if each were its function's fastest
 * call. */
uint64_t path_least_ns(const struct paths *paths, const struct path *p);
void paths_release(struct export *e); /* frees the paths in e->state */

#endif
