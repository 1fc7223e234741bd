/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Source lines, inlined calls and the language of code, from DWARF.
 */
#ifndef ISPOT_SYMBOL_DSO_LINES_H
#define ISPOT_SYMBOL_DSO_LINES_H

#include "symbol/dso/dso.h"

struct dso_lines;

bool dso_has_dwarf(struct dso *dso);

struct dso_line dso_line_at(struct dso *dso, uint64_t address);
/* Where the function is defined: its first instruction may be inlined from another file. */
struct dso_line dso_function_line(struct dso *dso, const struct dso_function *f);
/* Inlined functions around address, innermost first; returns how many (at most n). */
size_t dso_inlines_at(struct dso *dso, uint64_t address, struct dso_inline *chain, size_t n);
bool dso_only_inlined(struct dso *dso,
		      const char *name); /* DWARF knows it, but only as inlined copies */

enum dso_language dso_language_at(struct dso *dso,
				  uint64_t address); /* of the compile unit, else by mangling */

void dso_lines_free(struct dso_lines *lines);

#endif
