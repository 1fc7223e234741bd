/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The machine code of one function, and what bounds where its probes may sit. */
#ifndef ISPOT_PROBES_CODE_INPUT_H
#define ISPOT_PROBES_CODE_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum code_machine { CODE_X86_64, CODE_AARCH64 };

struct code_part {
	const uint8_t *code;
	size_t size_bytes;
	uint64_t address; /* of code[0], for branch targets */
};

struct code_input {
	enum code_machine machine;
	const uint8_t *code;
	size_t size_bytes;
	uint64_t address;	/* of code[0], for branch targets */
	uint32_t argument_mask; /* bit i: integer argument i is captured at entry; its register must
				   be unwritten */
	bool nop5_optimised; /* the kernel optimises nop5, and emulates longer nops (>= 6.18 x86-64)
			      */
	uint32_t entry_limit; /* offset of another entry point inside: probes stay before it; 0 none
			       */
	const struct code_part *parts; /* further code of the same function: NAME.cold */
	size_t n_parts;
};

#endif
