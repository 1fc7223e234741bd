/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the unwind table of a file (.eh_frame) says of its code.
 */
#ifndef ISPOT_SYMBOL_DSO_FRAMES_H
#define ISPOT_SYMBOL_DSO_FRAMES_H

#include "symbol/dso/dso.h"

/*
 * Finds the code that the unwind entry of the address covers: a function, or a part of one that the
 * compiler moved away (.cold). Stripped files have these entries, too. Returns false if there is
 * none for the address.
 */
bool dso_frame_range(struct dso *dso, uint64_t address, uint64_t *start, uint64_t *size);
/*
 * Finds .eh_frame_hdr and its n sorted entries of 8 bytes. Returns false if the file has none, or
 * one with entries of another size.
 */
bool dso_unwind_table(struct dso *dso, uint64_t *header, uint64_t *entries, uint64_t *n);

#endif
