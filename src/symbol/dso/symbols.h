/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The functions of a file. They come from the first source that has them: .symtab, a
 * .gnu_debuglink or build-id file, debuginfod if the user has configured it, .gnu_debugdata
 * (MiniDebugInfo), .gopclntab of Go, .dynsym.
 */
#ifndef ISPOT_SYMBOL_DSO_SYMBOLS_H
#define ISPOT_SYMBOL_DSO_SYMBOLS_H

#include "symbol/dso/dso.h"

/* Returns ".symtab", "debuglink", "debuginfod", ".gnu_debugdata", ".gopclntab", ".dynsym" or
 * "none". */
const char *dso_symbol_source(struct dso *dso);
/*
 * Lists all functions, sorted by address; aliases of one address are adjacent, the most public name
 * first. Names are demangled only when needed: libstdc++ has thousands, and a pattern needs few.
 */
size_t dso_functions(struct dso *dso, const struct dso_function **functions);
/* Both demangle, and fill the field of f that they are named after. */
const char *dso_function_name(struct dso *dso, const struct dso_function *f);
const char *dso_function_bare_name(struct dso *dso, const struct dso_function *f);
/* Demangles a symbol of the file as demangle() does (demangle.h); the caller frees the name. */
char *dso_demangle(struct dso *dso, const char *symbol);
/* Returns the function that contains the address, with its name filled in, or NULL if none does. */
const struct dso_function *dso_function_at(struct dso *dso, uint64_t address);
/*
 * Finds the functions with exactly this symbol, the default version first. *indices point into the
 * array of dso_functions(). Returns how many there are.
 */
size_t dso_find(struct dso *dso, const char *symbol, const uint32_t **indices);
/*
 * The same for symbol + "." + anything, which is how compilers name parts and copies of a function.
 */
size_t dso_find_clones(struct dso *dso, const char *symbol, const uint32_t **indices);
/* Lists the names of functions imported through the PLT or the GOT (undefined dynamic symbols). */
size_t dso_imports(struct dso *dso, const char *const **names);
bool dso_has_import(struct dso *dso, const char *symbol);

#endif
