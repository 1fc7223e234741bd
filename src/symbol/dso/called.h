/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The function of another object that a call instruction calls.
 */
#ifndef ISPOT_SYMBOL_DSO_CALLED_H
#define ISPOT_SYMBOL_DSO_CALLED_H

#include "symbol/dso/dso.h"

/*
 * Returns the symbol of the function of another object that the call instruction before the address
 * returns_to calls, or NULL if there is no call or it goes through a pointer.
 */
const char *dso_called_import(struct dso *dso, uint64_t returns_to);

/*
 * Returns the instruction with which n bytes of x86-64 code jump through a slot, if they are a stub
 * of the procedure linkage table, else NULL.
 */
const uint8_t *dso_stub_jump(const uint8_t *code, size_t n);
/* Returns whether n bytes of aarch64 code are such a stub. */
bool dso_is_stub_arm64(const uint8_t *code, size_t n);

/* Fills slots and slot_names of the dso. */
void dso_load_slots(struct dso *dso);

#endif
