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
 * The files that the dynamic loader would map for a program: the program, every library that
 * DT_NEEDED names, the interpreter; in load order, each once. dso_closure_release() frees the list.
 */
struct dso_closure {
	char **paths;
	size_t n;
};
int dso_closure(struct dso_cache *cache, const char *program, struct dso_closure *out,
		struct err *err);
/* The same with the LD_LIBRARY_PATH and LD_PRELOAD of another environment than ispot's own. */
int dso_closure_in(struct dso_cache *cache, const char *program, char *const *environment,
		   struct dso_closure *out, struct err *err);
void dso_closure_release(struct dso_closure *c);

#endif
