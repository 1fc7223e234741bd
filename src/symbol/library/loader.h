/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The built-in settings of a dynamic loader (glibc's or musl's), read from its file: its default
 * directories, the path of its cache, the values of $LIB and $PLATFORM. Nothing of the file is
 * executed.
 */
#ifndef ISPOT_SYMBOL_LIBRARY_LOADER_H
#define ISPOT_SYMBOL_LIBRARY_LOADER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/vec.h"
#include "symbol/library/ldcache.h"

struct loader {
	bool is_musl;
	enum dso_machine machine;
	struct {
		VEC(char *)
	} directories; /* without a slash at the end, but for "/" */
	char *lib;     /* value of $LIB */
	const char *platform;
	char *preload; /* libraries that every program gets (/etc/ld.so.preload) */
	struct ldcache cache;
};

void loader_open(struct loader *l, struct dso *dso, const char *path);
void loader_release(struct loader *l);

/*
 * Returns a path or list of directories with $ORIGIN, $LIB and $PLATFORM substituted, which the
 * caller frees, or NULL if the loader would ignore the path.
 */
char *loader_expand(const struct loader *l, const char *s, size_t n, const char *origin);

/*
 * Whether musl's loader answers a request for this library: it is also the C library, with all of
 * its parts.
 */
bool loader_is_library(const struct loader *l, const char *name);

#endif
