/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The function of another object that a call instruction calls.
 */
#ifndef ISPOT_SYMBOL_DSO_CALLED_H
#define ISPOT_SYMBOL_DSO_CALLED_H

#include "symbol/dso/dso.h"

/* The function of another object, as linked, that the call instruction calls which returns to that
 * address in the file's terms; NULL: it is none, or calls by a pointer. */
const char *dso_called_import(struct dso *dso, uint64_t returns_to);

/* Fills slots and slot_names of the dso. */
void dso_load_slots(struct dso *dso);

#endif
