/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Checks the call frame instructions of a file before libunwind follows them. libunwind trusts two
 * register numbers of the file, that of the return address and the second one of DW_CFA_register,
 * and reads past the end of an array if they are too large.
 */
#ifndef ISPOT_SYMBOL_DSO_CFI_H
#define ISPOT_SYMBOL_DSO_CFI_H

#include <stdbool.h>
#include <stdint.h>

struct cfi_range {
	uint64_t start, end; /* addresses of instructions; end is exclusive */
};

struct cfi_memory {
	/* Reads the eight bytes at an address that is a multiple of 8, or returns false. */
	bool (*read)(void *ctx, uint64_t address, uint64_t *word);
	void *ctx;
};

/*
 * Whether the instructions are complete and known. Register numbers must be below n_registers where
 * libunwind trusts them. DW_CFA_set_loc, which no compiler for Linux emits, counts as unknown.
 */
bool cfi_is_sound(const struct cfi_range *range, uint64_t n_registers,
		  const struct cfi_memory *memory);

#endif
