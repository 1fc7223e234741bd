/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The layout of an aarch64 instruction: enough to find branch targets in a whole object, and to
 * write an instruction at another address (Arm Architecture Reference Manual, C4.1).
 */
#ifndef ISPOT_PROBES_PATCH_LAYOUT_ARM64_H
#define ISPOT_PROBES_PATCH_LAYOUT_ARM64_H

#include <stdbool.h>
#include <stdint.h>

enum arm64_kind {
	ARM64_OTHER,
	ARM64_B,
	ARM64_BL,
	ARM64_BCOND,   /* b.cond and bc.cond; al and nv are ARM64_FIXED */
	ARM64_COMPARE, /* cbz, cbnz */
	ARM64_TEST,    /* tbz, tbnz */
	ARM64_ADR,
	ARM64_ADRP,
	ARM64_LITERAL,	/* ldr of a general register from a literal */
	ARM64_REGISTER, /* br, blr, ret and their authenticated forms */
	ARM64_FIXED,	/* must stay where it is, for one reason or another */
};

/* Reads an instruction from four bytes. */
uint32_t arm64_word(const uint8_t *code);
uint32_t arm64_field(uint32_t w, int high, int low);
enum arm64_kind arm64_kind(uint32_t w);
/* Returns where a branch of a kind with a distance leads, or what adr, adrp and ldr name. */
uint64_t arm64_names(uint32_t w, uint64_t address);
/* Returns whether indirect calls may arrive at the instruction: bti, paciasp, pacibsp. */
bool arm64_is_landing(uint32_t w);
/* Whether the instruction works the same at every address, if what arm64_names() returns is kept.
 */
bool arm64_can_move(uint32_t w);

#endif
