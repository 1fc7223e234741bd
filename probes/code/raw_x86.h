/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An x86-64 instruction as the kernel's uprobes see it (arch/x86/kernel/uprobes.c): prefixes and
 * opcode. These alone decide whether the kernel accepts a probe, and at which cost.
 */
#ifndef ISPOT_PROBES_CODE_RAW_X86_H
#define ISPOT_PROBES_CODE_RAW_X86_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/meta/meta.h"

struct raw {
	bool operand16, lock, segment, vector, repeat;
	uint8_t rex, map, opcode; /* map 1: one byte, 2: 0f, 3: 0f 38 and 0f 3a */
	uint8_t prefixes;
};

/* Parses the instruction at p, where 15 bytes must be readable. */
void raw_parse(struct raw *r, const uint8_t *p);
bool raw_is_branch(const struct raw *r);
bool raw_is_repeated(const struct raw *r);    /* rep movs, cmps, stos, lods, scas */
const char *raw_refusal(const struct raw *r); /* why not to probe it; NULL: it may be probed */
/*
 * Returns the class of an instruction that raw_refusal() allows; CLASS_N: some kernels refuse it.
 */
enum probe_class raw_class(const struct raw *r, const uint8_t *code, uint8_t length,
			   uint64_t address, bool multibyte_nops);

#endif
