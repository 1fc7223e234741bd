/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which methods are recorded. A pattern is a glob over the method's name as Java writes it,
 * com.example.Store.get, or over its last two parts or the last one; "synchronized:" in front takes
 * of these what is synchronized, methods and blocks; "!" leaves out. Without a pattern that
 * chooses: what is synchronized in the program's own classes, those that are not of Java itself.
 */
#ifndef ISPOT_PROBES_JAVA_AGENT_CHOOSE_H
#define ISPOT_PROBES_JAVA_AGENT_CHOOSE_H

#include <stdbool.h>
#include <stddef.h>

struct choice {
	char **patterns;
	size_t n;
	bool any; /* one of them chooses */
};

/* False: no memory. */
bool choice_add(struct choice *c, const char *pattern);
/* name: with dots. Bits of REWRITE_WHOLE and REWRITE_BLOCKS. */
unsigned choice_wanted(const struct choice *c, const char *name, bool is_synchronized,
		       bool is_platform);

#endif
