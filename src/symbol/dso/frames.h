/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Facts about a file's code from its unwind table (.eh_frame), and from that of Go. */
#ifndef ISPOT_SYMBOL_DSO_FRAMES_H
#define ISPOT_SYMBOL_DSO_FRAMES_H

#include "symbol/dso/dso.h"

/*
 * Finds the code that the unwind entry of the address covers: a function, or a part of a function
 * that the compiler moved away (.cold). Stripped files have these entries, too. Returns false if no
 * entry covers the address.
 */
bool dso_frame_range(struct dso *dso, uint64_t address, uint64_t *start, uint64_t *size);
/*
 * Finds .eh_frame_hdr and its n sorted entries of 8 bytes. Returns false if the file has no such
 * table, or the entries have another size.
 */
bool dso_unwind_table(struct dso *dso, uint64_t *header, uint64_t *entries, uint64_t *n);

typedef void dso_function_visitor(void *ctx, const char *name, uint64_t address, uint64_t size);
/* Visits the functions that .gopclntab names, which stripped programs of Go (1.18 or later) have,
 * too. The names are valid as long as the dso. */
void dso_go_functions(struct dso *dso, dso_function_visitor *visit, void *ctx);

#endif
