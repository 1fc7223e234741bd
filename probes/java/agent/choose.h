/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Chooses the methods to record. A pattern is a glob over the method's name as Java writes it
 * (com.example.Store.get), over the last two parts of the name, or over the last one. After
 * "synchronized:", only synchronized methods and blocks of these are recorded; "!" excludes
 * methods. If no pattern selects, everything synchronized in the program's own classes is recorded,
 * but nothing in the classes of Java itself.
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
/* name: with dots. Returns bits of REWRITE_WHOLE and REWRITE_BLOCKS. */
unsigned choice_wanted(const struct choice *c, const char *name, bool is_synchronized,
		       bool is_platform);

/*
 * Whether the method waits for the lock that its object is: those in which the locks of
 * java.util.concurrent queue, from Java 11 on. name: with dots; signature: as class files have it.
 */
bool choice_is_lock(const char *name, const char *signature, size_t signature_n);
/* Whether the class has such methods. */
bool choice_has_locks(const char *class_name);

#endif
