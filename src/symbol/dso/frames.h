/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the unwind table of a file (.eh_frame) says of its code.
 */
#ifndef ISPOT_SYMBOL_DSO_FRAMES_H
#define ISPOT_SYMBOL_DSO_FRAMES_H

#include "symbol/dso/dso.h"

/*
 * The stretch of code that one unwind entry covers: the bounds of a function, or of a part of one
 * that lies elsewhere (.cold), in stripped files too. False: the file has none there.
 */
bool dso_frame_range(struct dso *dso, uint64_t address, uint64_t *start, uint64_t *size);
/* Addresses of .eh_frame_hdr and of its n sorted entries of 8 bytes; false: none of the usual kind.
 */
bool dso_unwind_table(struct dso *dso, uint64_t *header, uint64_t *entries, uint64_t *n);

#endif
