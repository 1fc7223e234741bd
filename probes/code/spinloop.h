/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tells whether an instruction is part of a loop that waits by spinning. That is a short loop
 * around `pause` (x86), `yield`, `wfe` or `isb` (aarch64): compilers emit these nowhere else, and
 * the processors' manuals recommend them for such loops. On x86 it is also a short loop without
 * them that can only end because of another thread, or after so many rounds: it loads from the same
 * places in every round, compares, and stores nothing, unless it tries to exchange one and the same
 * value for another. The answer is stored when the recording ends, so that reports need no binary.
 */
#ifndef ISPOT_PROBES_CODE_SPINLOOP_H
#define ISPOT_PROBES_CODE_SPINLOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dso;

#define SPINLOOP_BYTES_MAX 128 /* from the first byte of the loop to the end of its branch back */

bool spinloop_at(struct dso *dso, uint64_t address);

/* The same for the n bytes of a function whose first one has the address start. */
bool spinloop_in(const uint8_t *code, size_t n, uint64_t start, uint64_t address, bool aarch64);

#endif
