/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The libraries that a program is loaded with.
 */
#ifndef ISPOT_SYMBOL_LIBRARY_CLOSURE_H
#define ISPOT_SYMBOL_LIBRARY_CLOSURE_H

#include <stddef.h>

struct err;
struct dso_cache;

/*
 * Files the dynamic loader would map for a program: itself, every DT_NEEDED library, the
 * interpreter; in load order, each once. Free with dso_closure_release.
 */
struct dso_closure {
	char **paths;
	size_t n;
};
int dso_closure(struct dso_cache *cache, const char *program, struct dso_closure *out,
		struct err *err);
/* In another environment than ispot's own (LD_LIBRARY_PATH, LD_PRELOAD). */
int dso_closure_in(struct dso_cache *cache, const char *program, char *const *environment,
		   struct dso_closure *out, struct err *err);
void dso_closure_release(struct dso_closure *c);

#endif
