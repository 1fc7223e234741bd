/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The functions of a file. They come from the first source that has them: .symtab, a
 * .gnu_debuglink or build-id file, debuginfod if the user has configured it, .gnu_debugdata
 * (MiniDebugInfo), .dynsym.
 */
#ifndef ISPOT_SYMBOL_DSO_SYMBOLS_H
#define ISPOT_SYMBOL_DSO_SYMBOLS_H

#include "symbol/dso/dso.h"

const char *dso_symbol_source(
	struct dso *dso); /* ".symtab" "debuglink" "debuginfod" ".gnu_debugdata" ".dynsym" "none" */
/*
 * All functions, sorted by address; aliases at one address stand next to each other, the most
 * public name first. Names are demangled when asked for: libstdc++ has thousands, a pattern needs
 * few.
 */
size_t dso_functions(struct dso *dso, const struct dso_function **functions);
const char *dso_function_name(struct dso *dso, const struct dso_function *f); /* fills f->name */
const char *dso_function_bare_name(struct dso *dso,
				   const struct dso_function *f); /* fills f->bare_name */
/* A name that the file has, as demangle() of demangle.h; to be freed. */
char *dso_demangle(struct dso *dso, const char *symbol);
const struct dso_function *
dso_function_at(struct dso *dso, uint64_t address); /* that contains it, with its name; NULL */
/* Functions of exactly this symbol, default version first: indices into dso_functions(). */
size_t dso_find(struct dso *dso, const char *symbol, const uint32_t **indices);
/* Functions named symbol + "." + more: what compilers call parts and copies of it. */
size_t dso_find_clones(struct dso *dso, const char *symbol, const uint32_t **indices);
/* Names of functions imported through the PLT/GOT (undefined dynamic symbols). */
size_t dso_imports(struct dso *dso, const char *const **names);

#endif
