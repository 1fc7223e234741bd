/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finds the recorded argument that a name of `--key` means, by the rules of `-F`
 * (select/arguments.h). If there is none, errors say how to record it, or why it cannot be
 * recorded.
 */
#ifndef ISPOT_ANALYSIS_GROUP_ARGKEY_FIND_H
#define ISPOT_ANALYSIS_GROUP_ARGKEY_FIND_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct meta;
struct meta_argument;
struct meta_function;

/* Returns the recorded argument with this name of the prototype, "argN" or "ret", or NULL if it was
 * not recorded or its occasional differs. */
const struct meta_argument *argkey_find(const struct meta_function *f, const char *name,
					bool occasional);

/* Returns the recorded function whose name is most similar, or NULL if none is within a few
 * edits. */
const char *argkey_nearest(const struct meta *meta, const char *function);

/* Set err and return -ENOENT. */
int argkey_not_recorded(const struct meta *meta, const struct meta_function *f, const char *arg,
			struct err *err);
int argkey_no_function(const struct meta *meta, const char *function, const char *arg,
		       struct err *err);

#endif
