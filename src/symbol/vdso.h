/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The vDSO: code that the kernel maps into every process (clock_gettime is there). No file holds
 * the code, but all 64-bit processes of a kernel have the same image, so ispot reads its own.
 * Addresses count from the beginning of the image.
 */
#ifndef ISPOT_SYMBOL_VDSO_H
#define ISPOT_SYMBOL_VDSO_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Returns the n bytes of the vDSO at address, or NULL if it does not contain all of them or does
 * not exist.
 */
const uint8_t *vdso_bytes(uint64_t address, uint64_t n);
/* Does for the vDSO what dso_unwind_table() does for a file. */
bool vdso_unwind_table(uint64_t *header, uint64_t *entries, uint64_t *n);

#endif
