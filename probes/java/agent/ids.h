/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The ids of methods, told to the recorder (inproc.h). Any thread may call these. */
#ifndef ISPOT_PROBES_JAVA_AGENT_IDS_H
#define ISPOT_PROBES_JAVA_AGENT_IDS_H

#include "probes/java/agent/rewrite.h"

/* The signatures are those of rewrite_hooks; ctx is not used. */
uint32_t ids_define(void *ctx, const struct rewrite_method *m, bool block, uint32_t n,
		    const uint32_t *lines);
void ids_left(void *ctx, const struct rewrite_method *m, const char *why);
/* The same of a class, or of a method by its name. */
void ids_left_named(const char *name, const char *why);
/* A word to the user. */
void ids_notice(const char *words);
/* A row of names of another kind. False: there is no room. */
bool ids_row(uint32_t id, uint32_t kind, uint32_t line, const char *name, const char *source);

#endif
