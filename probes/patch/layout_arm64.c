// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/patch/layout_arm64.h"

#include <stddef.h>

#define ZERO 31u /* the register xzr, or sp */

uint32_t arm64_word(const uint8_t *code)
{
	return (uint32_t)code[0] | (uint32_t)code[1] << 8 | (uint32_t)code[2] << 16 |
	       (uint32_t)code[3] << 24;
}

uint32_t arm64_field(uint32_t w, int high, int low)
{
	return w >> low & ((1u << (high - low + 1)) - 1);
}

static uint64_t signed_field(uint32_t w, int high, int low)
{
	const int bits = high - low + 1;
	const uint64_t v = arm64_field(w, high, low);

	return v >> (bits - 1) ? v - (1ull << bits) : v;
}

/* Rows in order: the first one that fits counts. */
static const struct {
	uint32_t mask, value;
	enum arm64_kind kind;
} kinds[] = {
	{ 0xfc000000, 0x14000000, ARM64_B },
	{ 0xfc000000, 0x94000000, ARM64_BL },
	{ 0xff00000e, 0x5400000e, ARM64_FIXED }, /* always: no compiler emits it */
	{ 0xff000000, 0x54000000, ARM64_BCOND },
	{ 0x7e000000, 0x34000000, ARM64_COMPARE },
	{ 0x7e000000, 0x36000000, ARM64_TEST },
	{ 0x9f000000, 0x10000000, ARM64_ADR },
	{ 0x9f000000, 0x90000000, ARM64_ADRP },
	{ 0xff000000, 0x18000000, ARM64_LITERAL },  /* ldr w */
	{ 0xff000000, 0x58000000, ARM64_LITERAL },  /* ldr x */
	{ 0xff000000, 0x98000000, ARM64_LITERAL },  /* ldrsw */
	{ 0x3b000000, 0x18000000, ARM64_FIXED },    /* prfm, and ldr of a vector register */
	{ 0xfe9f0000, 0xd61f0000, ARM64_REGISTER }, /* br, blr, ret; braa, retaa and so on */
	{ 0xfe000000, 0xd6000000, ARM64_FIXED },    /* eret, drps */
	/* The kernel or the program may compare the address of a system call or a trap. */
	{ 0xff000000, 0xd4000000, ARM64_FIXED },
	{ 0xffff0000, 0x00000000, ARM64_FIXED }, /* udf */
	/* ldxr, stxr, casp: no other code should come between a pair of them. */
	{ 0x3f800000, 0x08000000, ARM64_FIXED },
};

/* The instructions that must be written with another register than xzr at another address. */
static bool names_zero(uint32_t w, enum arm64_kind kind)
{
	return (kind == ARM64_ADR || kind == ARM64_ADRP || kind == ARM64_LITERAL) &&
	       arm64_field(w, 4, 0) == ZERO;
}

enum arm64_kind arm64_kind(uint32_t w)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if ((w & kinds[i].mask) == kinds[i].value)
			return names_zero(w, kinds[i].kind) ? ARM64_FIXED : kinds[i].kind;
	return ARM64_OTHER;
}

uint64_t arm64_names(uint32_t w, uint64_t address)
{
	const uint64_t near = signed_field(w, 23, 5) * 4 | arm64_field(w, 30, 29);

	switch (arm64_kind(w)) {
	case ARM64_B:
	case ARM64_BL:
		return address + signed_field(w, 25, 0) * 4;
	case ARM64_BCOND:
	case ARM64_COMPARE:
	case ARM64_LITERAL:
		return address + signed_field(w, 23, 5) * 4;
	case ARM64_TEST:
		return address + signed_field(w, 18, 5) * 4;
	case ARM64_ADR:
		return address + near;
	case ARM64_ADRP:
		return (address & ~0xfffull) + near * 4096;
	default:
		return address;
	}
}

bool arm64_is_landing(uint32_t w)
{
	return (w & 0xffffff3f) == 0xd503241f || w == 0xd503233f || w == 0xd503237f;
}

/* A copied call would leave a return address that points into the copy. */
bool arm64_can_move(uint32_t w)
{
	switch (arm64_kind(w)) {
	case ARM64_BL:
	case ARM64_FIXED:
		return false;
	case ARM64_REGISTER:
		return arm64_field(w, 22, 21) != 1;
	default:
		return true;
	}
}
