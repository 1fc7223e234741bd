/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What functions are to parallel sections, by their names: for parallel.c. */
#ifndef ISPOT_ANALYSIS_PARALLEL_ROLE_H
#define ISPOT_ANALYSIS_PARALLEL_ROLE_H

struct meta_function;

enum role { ROLE_NONE, ROLE_BARRIER, ROLE_JOIN, ROLE_REGION, ROLE_BODY, ROLE_NAMED };

/* named: the function or marker whose calls are the sections, which then is the only one with a
 * role; NULL: none is. */
enum role parallel_role(const struct meta_function *f, const char *named);

#endif
