/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The built-in settings of a dynamic loader (glibc's or musl's), read from its file: the
 * directories in which it looks without being told, the path of its cache, the meaning of $LIB and
 * $PLATFORM. Nothing of it is run.
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
	} directories; /* without a slash at the end */
	char *lib;     /* $LIB */
	const char *platform;
	char *preload; /* names of libraries that every program gets (/etc/ld.so.preload) */
	struct ldcache cache;
};

void loader_open(struct loader *l, struct dso *dso, const char *path);
void loader_release(struct loader *l);

/*
 * A path or list of directories with $ORIGIN, $LIB and $PLATFORM put in; freed by the caller. NULL:
 * the loader ignores it.
 */
char *loader_expand(const struct loader *l, const char *s, size_t n, const char *origin);

/* musl's loader is its C library, whatever part of that a program asks for. */
bool loader_is_library(const struct loader *l, const char *name);

#endif
