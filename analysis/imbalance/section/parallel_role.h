/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The roles of functions in parallel sections, by their names. No other module depends on these
 * names. */
#ifndef ISPOT_ANALYSIS_IMBALANCE_SECTION_PARALLEL_ROLE_H
#define ISPOT_ANALYSIS_IMBALANCE_SECTION_PARALLEL_ROLE_H

#include <stdbool.h>

struct meta_function;

enum role { ROLE_NONE, ROLE_BARRIER, ROLE_JOIN, ROLE_REGION, ROLE_BODY, ROLE_NAMED };

/* named: the function or marker whose calls are the sections; no other function has a role then.
 * NULL: markers have roles, among others. */
enum role parallel_role(const struct meta_function *f, const char *named);
/* Whether a function with this symbol joins threads. */
bool parallel_role_joins(const char *symbol);

/* All functions with a role, as patterns of ispot record -F. All these arrays end with NULL. */
extern const char *const parallel_patterns[];
/* The functions that run OpenMP regions, and the regions' bodies, as such patterns. */
extern const char *const parallel_regions[];
/*
 * Functions before whose entry callgrind dumps its counts: barriers, where sections end; bodies of
 * OpenMP regions, where sections begin; functions that create threads or wait for them; and the
 * first function of each thread. "*" stands for any text.
 *
 * parallel_bodies are those after whose exit it dumps: the same bodies by other patterns, because
 * valgrind ignores a pattern that is given for both.
 */
extern const char *const parallel_barriers[],
	*const parallel_begins[], *const parallel_makers[], *const parallel_joins[],
								    *const parallel_births[];
extern const char *const parallel_bodies[];

#endif
