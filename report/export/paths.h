/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls summed by call path: the traced functions that were open around them. */
#ifndef ISPOT_REPORT_EXPORT_PATHS_H
#define ISPOT_REPORT_EXPORT_PATHS_H

#include <stdint.h>

#include "base/hash.h"
#include "base/vec.h"

struct call;
struct export;
struct thread;

#define PATH_ROOT UINT32_MAX

/* parent: index of the path that it extends by the function id. own_ns: without traced callees. */
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
	} own_min_ns; /* [function id], UINT64_MAX: none timed */
};

/* Called by formats of call paths when they begin, and with each call. */
void paths_begin(struct export *e);
void paths_call(struct export *e, const struct thread *t, const struct call *c);
/* Returns the time of the path's calls had each been the fastest of its function. */
uint64_t path_least_ns(const struct paths *paths, const struct path *p);
void paths_release(struct export *e); /* its state */

#endif
