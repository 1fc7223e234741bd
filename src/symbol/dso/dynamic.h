/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The dynamic section of a file: the libraries and search paths that the file asks the loader for.
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

/* Reads the section into out, which dso_dynamic_release() releases. */
void dso_dynamic_read(const struct dso *dso, struct dso_dynamic *out);
void dso_dynamic_release(struct dso_dynamic *d);

#endif
