/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The code that the kernel maps into every process (clock_gettime is there): no file has it, but
 * all 64-bit processes of a kernel have the same image, so ispot's own is read. Addresses count
 * from its beginning.
 */
#ifndef ISPOT_SYMBOL_VDSO_H
#define ISPOT_SYMBOL_VDSO_H

#include <stdbool.h>
#include <stdint.h>

/* n bytes of it; NULL: not all of them are in it, or there is none. */
const uint8_t *vdso_bytes(uint64_t address, uint64_t n);
/* The same as dso_unwind_table(), for the vDSO. */
bool vdso_unwind_table(uint64_t *header, uint64_t *entries, uint64_t *n);

#endif
