// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Follows, instruction by instruction, which registers have an address that the code computes, or
 * an entry of a table, to find the switches of compilers. gcc and clang jump to
 *
 *     adr base, label; ldrb offset, [table, index]; add goal, base, offset * 4; br goal
 *
 * with entries of one, two or four bytes, and clang also to table + entry, with four bytes. The
 * values are followed straight through branches: compilers do not give a register two meanings that
 * are both addresses, and a switch that is not found makes its function one that is not patched.
 */
#include "probes/patch/sweep_arm64.h"

#include <string.h>

#include "probes/code/decode.h"
#include "probes/code/decode_arm64.h"
#include "probes/patch/layout_arm64.h"
#include "probes/patch/sweep.h"
#include "probes/patch/targets.h"
#include "symbol/dso/dso.h"

#define INSN	    4u
#define REGISTERS   31u
#define CALLED_KEEP 0x3ff80000u /* registers that a call keeps: x19 to x29 */
#define ENTRIES_MAX 4096u

enum value_kind { VALUE_UNKNOWN, VALUE_ADDRESS, VALUE_ENTRY, VALUE_GOAL };

struct value {
	enum value_kind kind;
	uint64_t address; /* ADDRESS; ENTRY, GOAL: of the table, 0: unknown */
	uint64_t base;	  /* GOAL: where offsets count from */
	uint8_t bytes;	  /* ENTRY, GOAL: of an entry of the table */
	uint8_t scale;	  /* GOAL: shift of the offset */
	bool is_signed;
};

struct reader {
	struct sweep *s;
	const uint8_t *code;
	size_t n;
	struct value values[REGISTERS + 1]; /* the last one stays unknown */
};

static uint64_t address_of(const struct reader *r, size_t at)
{
	return r->s->start + at;
}

static bool is_inside(const struct reader *r, uint64_t address)
{
	return address >= r->s->start && address < r->s->end;
}

static void set(struct reader *r, unsigned reg, struct value v)
{
	if (reg < REGISTERS)
		r->values[reg] = v;
}

/* ---- switches ---- */

/* An add of a shifted or extended register. Returns false if the word is another instruction. */
static bool read_add(uint32_t w, unsigned *shift, bool *is_signed)
{
	const bool is_shifted = (w & 0xffe00000) == 0x8b000000;

	*shift = is_shifted ? arm64_field(w, 15, 10) : arm64_field(w, 12, 10);
	*is_signed = !is_shifted && arm64_field(w, 15, 13) >= 4;
	return is_shifted || (w & 0xffe00000) == 0x8b200000;
}

#define LOOK_AHEAD 6u

/* Whether adr names what offsets of a table count from, and not where control may go. */
static bool is_base(const struct reader *r, size_t at, unsigned reg)
{
	for (size_t i = 1; i <= LOOK_AHEAD && at + (i + 1) * INSN <= r->n; i++) {
		const uint32_t w = arm64_word(r->code + at + i * INSN);
		unsigned shift;
		bool is_signed;

		if (read_add(w, &shift, &is_signed) && shift == 2 && arm64_field(w, 9, 5) == reg)
			return true;
	}
	return false;
}

static struct value goal_of(const struct reader *r, uint32_t w)
{
	const struct value *base = &r->values[arm64_field(w, 9, 5)],
			   *entry = &r->values[arm64_field(w, 20, 16)];
	struct value goal = { 0 };
	unsigned shift;
	bool is_signed;

	if (!read_add(w, &shift, &is_signed) || base->kind != VALUE_ADDRESS ||
	    entry->kind != VALUE_ENTRY)
		return goal;
	if (!(shift == 2 && is_inside(r, base->address)) &&
	    !(shift == 0 && entry->bytes == 4 && entry->address == base->address))
		return goal;
	goal = *entry;
	goal.kind = VALUE_GOAL;
	goal.base = base->address;
	goal.scale = (uint8_t)shift;
	goal.is_signed |= is_signed;
	return goal;
}

static int64_t entry_at(const uint8_t *p, uint8_t bytes, bool is_signed)
{
	uint32_t value = 0;
	const unsigned unused = 32 - 8u * bytes;

	memcpy(&value, p, bytes);
	return is_signed ? (int32_t)(value << unused) >> unused : (int64_t)value;
}

/* Marks where a table leads, up to the first entry that leads out of the function. */
static void mark_table(const struct reader *r, const struct value *goal)
{
	for (uint64_t i = 0; goal->address && i < ENTRIES_MAX; i++) {
		const uint8_t *p =
			dso_bytes(r->s->dso, goal->address + i * goal->bytes, goal->bytes);
		const uint64_t offset =
			p ? (uint64_t)entry_at(p, goal->bytes, goal->is_signed) << goal->scale : 0;

		if (!p || !is_inside(r, goal->base + offset))
			return;
		targets_mark(r->s->t, goal->base + offset, MARK_SWITCH);
	}
}

static void note_jump(const struct reader *r, size_t at, unsigned reg)
{
	const struct value *goal = &r->values[reg];

	if (goal->kind != VALUE_GOAL)
		return;
	targets_mark(r->s->t, address_of(r, at), MARK_JUMPS);
	if (is_inside(r, goal->base))
		targets_mark(r->s->t, goal->base, MARK_SWITCH);
	mark_table(r, goal);
}

/* ---- values ---- */

/* A load of a register, with an index that is a register. */
static bool is_indexed_load(uint32_t w)
{
	return (w & 0x3f200c00) == 0x38200800 && arm64_field(w, 23, 22) &&
	       arm64_field(w, 31, 30) < 3;
}

static struct value entry_of(const struct reader *r, uint32_t w)
{
	const struct value *base = &r->values[arm64_field(w, 9, 5)];

	return (struct value){ .kind = VALUE_ENTRY,
			       .address = base->kind == VALUE_ADDRESS ? base->address : 0,
			       .bytes = (uint8_t)(1u << arm64_field(w, 31, 30)),
			       .is_signed = arm64_field(w, 23, 22) >= 2 };
}

static void forget(struct reader *r, const struct insn *insn)
{
	uint32_t lost = insn->writes;

	if (insn->is_call)
		lost |= ~CALLED_KEEP;
	for (unsigned i = 0; i < REGISTERS; i++)
		if (lost >> i & 1)
			r->values[i] = (struct value){ 0 };
}

static bool is_add_immediate(uint32_t w)
{
	return (w & 0xff800000) == 0x91000000;
}

/* Returns the value that the instruction leaves in its destination register. */
static struct value value_of(struct reader *r, uint32_t w, size_t at)
{
	const struct value *from = &r->values[arm64_field(w, 9, 5)];
	const uint64_t add = (uint64_t)arm64_field(w, 21, 10) << (arm64_field(w, 22, 22) ? 12 : 0);
	const enum arm64_kind kind = arm64_kind(w);

	if (kind == ARM64_ADR || kind == ARM64_ADRP)
		return (struct value){ .kind = VALUE_ADDRESS,
				       .address = arm64_names(w, address_of(r, at)) };
	if (is_add_immediate(w) && from->kind == VALUE_ADDRESS)
		return (struct value){ .kind = VALUE_ADDRESS, .address = from->address + add };
	if (is_indexed_load(w))
		return entry_of(r, w);
	return goal_of(r, w);
}

/* ---- instructions ---- */

/*
 * All words that a literal load reads are data. Tables among the code look like loads from
 * anywhere; a real one reads from its own function.
 */
static void note_literal(struct reader *r, uint32_t w, uint64_t address)
{
	const unsigned bytes = arm64_field(w, 26, 26)	     ? 4u << arm64_field(w, 31, 30)
			       : arm64_field(w, 31, 30) == 1 ? 8u
							     : 4u;

	for (unsigned i = 0; i < bytes && is_inside(r, address + i); i += INSN)
		sweep_address(r->s, address + i);
}

static bool is_literal(uint32_t w)
{
	return (w & 0x3b000000) == 0x18000000;
}

static void note_address(struct reader *r, uint32_t w, size_t at, const struct value *v)
{
	const unsigned reg = arm64_field(w, 4, 0);

	if (v->kind != VALUE_ADDRESS || arm64_kind(w) == ARM64_ADRP)
		return;
	if (!(arm64_kind(w) == ARM64_ADR && is_inside(r, v->address) && is_base(r, at, reg)))
		sweep_address(r->s, v->address);
}

static void note_insn(struct reader *r, size_t at)
{
	const uint32_t w = arm64_word(r->code + at);
	const uint64_t address = address_of(r, at);
	struct value v = { 0 };
	struct insn insn;

	decode_arm64(NULL, r->code + at, INSN, address, &insn);
	switch (arm64_kind(w)) {
	case ARM64_B:
	case ARM64_BL:
	case ARM64_BCOND:
	case ARM64_COMPARE:
	case ARM64_TEST:
		sweep_branch(r->s, address, arm64_names(w, address), insn.is_call);
		break;
	case ARM64_REGISTER:
		if (insn.flow == FLOW_JUMP_REG)
			note_jump(r, at, insn.jump_register);
		break;
	default:
		v = value_of(r, w, at);
		note_address(r, w, at, &v);
	}
	if (is_literal(w))
		note_literal(r, w, address + (uint64_t)((int32_t)(w << 8) >> 13) * 4);
	forget(r, &insn);
	if (v.kind)
		set(r, arm64_field(w, 4, 0), v);
}

void sweep_arm64(struct sweep *s)
{
	struct reader r = { .s = s };

	r.code = targets_code(s->t, s->start, &r.n);
	if (r.n > s->end - s->start)
		r.n = s->end - s->start;
	for (size_t at = -s->start % INSN; r.code && at + INSN <= r.n; at += INSN)
		note_insn(&r, at);
}
