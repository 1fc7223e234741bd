/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The variables of a file, and where it lies in memory.
 */
#ifndef ISPOT_SYMBOL_DSO_DATA_H
#define ISPOT_SYMBOL_DSO_DATA_H

#include "symbol/dso/dso.h"

/* The variable that an address in the file's terms lies in, demangled, and how far in it; NULL:
 * none is known there. Valid as long as the dso. */
const char *dso_variable_at(struct dso *dso, uint64_t address, uint64_t *offset);
bool dso_is_data(const struct dso *dso, uint64_t address); /* loaded, and no code */
/* How far above the file's terms it is loaded where its code at file_offset is mapped at start;
 * UINT64_MAX: there is no code at file_offset. */
uint64_t dso_load_bias(const struct dso *dso, uint64_t start, uint64_t file_offset);

#endif
