/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Source lines, inlined calls and the language of code, from DWARF.
 */
#ifndef ISPOT_SYMBOL_DSO_LINES_H
#define ISPOT_SYMBOL_DSO_LINES_H

#include "symbol/dso/dso.h"

struct dso_lines;

/* Whether the file or its debug file has DWARF. */
bool dso_has_dwarf(struct dso *dso);

struct dso_line dso_line_at(struct dso *dso, uint64_t address);
/*
 * Returns the line where the function is defined. The line of its first instruction may be in
 * another file, from which that instruction was inlined.
 */
struct dso_line dso_function_line(struct dso *dso, const struct dso_function *f);
/*
 * Writes the inlined calls that contain the address, at most n, the innermost first. Returns how
 * many it wrote.
 */
size_t dso_inlines_at(struct dso *dso, uint64_t address, struct dso_inline *chain, size_t n);
/* Whether DWARF has a function of that name, but only as inlined copies. */
bool dso_only_inlined(struct dso *dso, const char *name);

/*
 * Returns the language of the compile unit, or else the one that the mangling of the symbol shows.
 */
enum dso_language dso_language_at(struct dso *dso, uint64_t address);

void dso_lines_free(struct dso_lines *lines);

#endif
