/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The layout of an x86-64 instruction: enough to find branch targets in a whole object, and to
 * write an instruction at another address. decode.h knows what instructions do; this reader is a
 * hundred times as fast and knows encodings that capstone does not.
 */
#ifndef ISPOT_PROBES_PATCH_LAYOUT_X86_H
#define ISPOT_PROBES_PATCH_LAYOUT_X86_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum layout_map { MAP_BYTE, MAP_0F, MAP_0F38, MAP_0F3A, MAP_VECTOR };

struct layout {
	uint8_t length;
	uint8_t opcode_at; /* behind the prefixes */
	uint8_t map;	   /* enum layout_map */
	uint8_t opcode;
	uint8_t modrm;
	bool has_modrm;
	uint8_t disp_at, disp_bytes; /* of a memory operand; disp_bytes 0: no displacement */
	bool rip;		     /* the displacement counts from the end of the instruction */
	uint8_t imm_at, imm_bytes;
	bool relative; /* the immediate is a branch distance from the instruction's end */
	bool operand16, address32, repeat, lock;
};

/* Returns false if the bytes are no known instruction, or cut off. */
bool layout_read(const uint8_t *code, size_t n, struct layout *out);

/* Return the address that a rip-relative operand names, or to which a branch leads. */
uint64_t layout_names(const struct layout *l, const uint8_t *code, uint64_t address);
uint64_t layout_leads_to(const struct layout *l, const uint8_t *code, uint64_t address);

bool layout_is_call(const struct layout *l);
bool layout_is_jump(const struct layout *l);	    /* unconditional, direct or not */
bool layout_is_conditional(const struct layout *l); /* jcc, not loop or jrcxz */
bool layout_is_ret(const struct layout *l);
bool layout_is_nop(const struct layout *l);
bool layout_stops(const struct layout *l); /* traps and never goes on: ud2, hlt, int3 */
/*
 * Whether the instruction works the same at every address, if what layout_names() and
 * layout_leads_to() return is kept.
 */
bool layout_can_move(const struct layout *l);

enum layout_flags { FLAGS_KEPT, FLAGS_SET, FLAGS_READ }; /* READ: maybe */
enum layout_flags layout_flags(const struct layout *l);

#endif
