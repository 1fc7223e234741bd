/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The variables of a file, and the place in memory to which the file is loaded. */
#ifndef ISPOT_SYMBOL_DSO_DATA_H
#define ISPOT_SYMBOL_DSO_DATA_H

#include "symbol/dso/dso.h"

/*
 * Returns the demangled name of the variable that contains the address and sets *offset from its
 * start, or returns NULL if no variable is known there. The name is valid as long as the dso.
 */
const char *dso_variable_at(struct dso *dso, uint64_t address, uint64_t *offset);
bool dso_is_data(const struct dso *dso, uint64_t address); /* loaded, and not code */
/*
 * Returns what to add to an address of the file to get one of the process in which the code at
 * file_offset is mapped at start, or UINT64_MAX if the file has no code at file_offset.
 */
uint64_t dso_load_bias(const struct dso *dso, uint64_t start, uint64_t file_offset);

#endif
