/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The roles of functions in parallel sections, by their names; only this module knows such names.
 */
#ifndef ISPOT_ANALYSIS_IMBALANCE_SECTION_PARALLEL_ROLE_H
#define ISPOT_ANALYSIS_IMBALANCE_SECTION_PARALLEL_ROLE_H

#include <stdbool.h>

struct meta_function;

enum role { ROLE_NONE, ROLE_BARRIER, ROLE_JOIN, ROLE_REGION, ROLE_BODY, ROLE_NAMED };

/* named: the function or marker whose calls are the sections, which then is the only one with a
 * role; NULL: those of markers are, among others. */
enum role parallel_role(const struct meta_function *f, const char *named);
/* A function with that symbol joins threads. */
bool parallel_role_joins(const char *symbol);

/* All that have a role, as patterns of ispot record -F; NULL-terminated, as the others. */
extern const char *const parallel_patterns[];
/* The functions of these that run OpenMP regions, and the regions' bodies. */
extern const char *const parallel_regions[];
/*
 * Functions before whose entry callgrind is to dump: barriers, where sections end, bodies of OpenMP
 * regions, where they begin, what makes threads, what waits for them, and what a thread begins
 * with; and those after whose exit: the same bodies, by other patterns, because of one that is in
 * both valgrind heeds only one. "*": any text.
 */
extern const char *const parallel_barriers[],
	*const parallel_begins[], *const parallel_makers[], *const parallel_joins[],
								    *const parallel_births[];
extern const char *const parallel_bodies[];

#endif
