/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The dynamic section of a file: what the file asks of the loader.
 */
#ifndef ISPOT_SYMBOL_DSO_DYNAMIC_H
#define ISPOT_SYMBOL_DSO_DYNAMIC_H

#include <stdbool.h>

#include "base/vec.h"

struct dso;

struct dso_needed {
	const char *name;
	bool optional;
};

struct dso_dynamic { /* strings are valid as long as the dso */
	struct {
		VEC(struct dso_needed)
	} needed;
	const char *soname, *rpath, *runpath; /* NULL: none */
	bool no_default_directories;
};

/* To be released. */
void dso_dynamic_read(const struct dso *dso, struct dso_dynamic *out);
void dso_dynamic_release(struct dso_dynamic *d);

#endif
