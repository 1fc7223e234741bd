/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The machine code of one function, and the limits for its probes. */
#ifndef ISPOT_PROBES_CODE_INPUT_H
#define ISPOT_PROBES_CODE_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum code_machine { CODE_X86_64, CODE_AARCH64 };

struct code_part {
	const uint8_t *code;
	size_t size_bytes;
	uint64_t address; /* of code[0], to resolve branch targets */
};

struct code_input {
	enum code_machine machine;
	const uint8_t *code;
	size_t size_bytes;
	uint64_t address;	/* of code[0], to resolve branch targets */
	uint32_t argument_mask; /* bit i: integer argument i is read at entry, so its register must
				   be unwritten there */
	bool nop5_optimised; /* the kernel optimizes nop5 and emulates other long nops (x86-64, 6.18
				or newer) */
	uint32_t entry_limit; /* offset of another entry point inside, before which probes must
				 stay; 0: none */
	const struct code_part *parts; /* further code of the same function: NAME.cold */
	size_t n_parts;
};

#endif
