/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where the parts of an x86-64 instruction lie: all that is needed to find branch targets in a
 * whole object, and to write an instruction down at another address. What instructions do is
 * decode.h's; this reads a hundred times as many in the same time, and knows encodings that
 * capstone does not.
 */
#ifndef ISPOT_PROBES_PATCH_LAYOUT_H
#define ISPOT_PROBES_PATCH_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum layout_map { MAP_BYTE, MAP_0F, MAP_0F38, MAP_0F3A, MAP_VECTOR };

struct layout {
	uint8_t length;
	uint8_t opcode_at; /* prefixes lie before it */
	uint8_t map;	   /* enum layout_map */
	uint8_t opcode;
	uint8_t modrm;
	bool has_modrm;
	uint8_t disp_at, disp_bytes; /* of a memory operand; disp_bytes 0: none */
	bool rip;		     /* the displacement counts from the instruction's end */
	uint8_t imm_at, imm_bytes;
	bool relative; /* the immediate counts from the instruction's end: where a branch leads */
	bool operand16, address32, repeat, lock;
};

/* False: no instruction that this knows, or not all of it is there. */
bool layout_read(const uint8_t *code, size_t n, struct layout *out);

/* What the address is that a rip-relative operand names, or a branch leads to. */
uint64_t layout_names(const struct layout *l, const uint8_t *code, uint64_t address);
uint64_t layout_leads_to(const struct layout *l, const uint8_t *code, uint64_t address);

bool layout_is_call(const struct layout *l);
bool layout_is_jump(const struct layout *l);	    /* unconditional, direct or not */
bool layout_is_conditional(const struct layout *l); /* jcc: not loop, jrcxz */
bool layout_is_ret(const struct layout *l);
bool layout_is_nop(const struct layout *l);
bool layout_stops(const struct layout *l); /* traps, never goes on behind: ud2, hlt, int3 */
/* Does it do the same at every address, once layout_names() and layout_leads_to() are kept? */
bool layout_can_move(const struct layout *l);

enum layout_flags { FLAGS_KEPT, FLAGS_SET, FLAGS_READ }; /* READ: perhaps */
enum layout_flags layout_flags(const struct layout *l);

#endif
