/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which recorded argument a name of `--key` means, by the rules that `-F` names arguments by
 * (select/arguments.h); and where none is meant, what to say: how to record it, or why that cannot
 * be.
 */
#ifndef ISPOT_ANALYSIS_GROUP_ARGKEY_FIND_H
#define ISPOT_ANALYSIS_GROUP_ARGKEY_FIND_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct meta;
struct meta_argument;
struct meta_function;

/* name: of the prototype, "argN" or "ret". NULL: it was not recorded, or not as occasional says. */
const struct meta_argument *argkey_find(const struct meta_function *f, const char *name,
					bool occasional);

/* The recorded function whose name is at most a few edits away; NULL: none is. */
const char *argkey_nearest(const struct meta *meta, const char *function);

/* The sentences; -ENOENT. */
int argkey_not_recorded(const struct meta *meta, const struct meta_function *f, const char *arg,
			struct err *err);
int argkey_no_function(const struct meta *meta, const char *function, const char *arg,
		       struct err *err);

#endif
