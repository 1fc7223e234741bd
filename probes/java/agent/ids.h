/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gives methods ids and reports them to the recorder (inproc.h). Any thread may call these
 * functions. */
#ifndef ISPOT_PROBES_JAVA_AGENT_IDS_H
#define ISPOT_PROBES_JAVA_AGENT_IDS_H

#include "probes/java/agent/rewrite.h"

/* These are functions for rewrite_hooks. They ignore ctx. */
uint32_t ids_define(void *ctx, const struct rewrite_method *m, bool block, uint32_t n,
		    const uint32_t *lines);
void ids_left(void *ctx, const struct rewrite_method *m, const char *why);
/* Does the same for a class, or for a method by its name. */
void ids_left_named(const char *name, const char *why);
/* A word to the user. */
void ids_notice(const char *words);
/* Adds a row of names of another kind. Returns false if there is no room. */
bool ids_row(uint32_t id, uint32_t kind, uint32_t line, const char *name, const char *source);

#endif
