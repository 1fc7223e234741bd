/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The parameters and the result of a function, from DWARF.
 */
#ifndef ISPOT_SYMBOL_DSO_PROTOTYPE_H
#define ISPOT_SYMBOL_DSO_PROTOTYPE_H

#include "symbol/dso/dso.h"

/*
 * Reads the prototype of a function. Returns false if DWARF has none. The strings live as long as
 * the dso.
 */
bool dso_prototype(struct dso *dso, const struct dso_function *f, struct dso_prototype *out);

#endif
