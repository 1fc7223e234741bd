/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbol/dso/cfi.h"

#include <stddef.h>

#include <dwarf.h>

/*
 * DWARF numbers of single processors, which elfutils' header lacks or names for another processor.
 */
#define CFA_MIPS_ADVANCE_LOC8 0x1d
#define CFA_GNU_WINDOW_SAVE   0x2d /* aarch64: DW_CFA_AARCH64_negate_ra_state */
#define CFA_GNU_ARGS_SIZE     0x2e
#define CFA_GNU_NEGATIVE      0x2f

#define ULEB_BYTES 10 /* a number of 64 bits has at most so many */

struct reading {
	const struct cfi_memory *memory;
	uint64_t at, end;
	uint64_t word, word_at; /* the word that was read last */
	bool has_word;
};

static bool read_byte(struct reading *r, uint8_t *byte)
{
	const uint64_t word_at = r->at & ~7ull;

	if (r->at >= r->end)
		return false;
	if (!r->has_word || r->word_at != word_at) {
		r->has_word = r->memory->read(r->memory->ctx, word_at, &r->word);
		r->word_at = word_at;
	}
	*byte = (uint8_t)(r->word >> (r->at++ % 8 * 8));
	return r->has_word;
}

static bool skip(struct reading *r, uint64_t n)
{
	if (n > r->end - r->at)
		return false;
	r->at += n;
	return true;
}

static bool read_uleb(struct reading *r, uint64_t *value)
{
	uint8_t byte = 0;

	*value = 0;
	for (unsigned i = 0; i < ULEB_BYTES; i++) {
		if (!read_byte(r, &byte))
			return false;
		*value |= (uint64_t)(byte & 0x7f) << 7 * i;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

static bool skip_ulebs(struct reading *r, unsigned n)
{
	uint64_t value;

	while (n && read_uleb(r, &value))
		n--;
	return !n;
}

/*
 * Skips an expression: its length, then its bytes. libunwind reads the bytes through its accessors,
 * which check every address.
 */
static bool skip_block(struct reading *r)
{
	uint64_t bytes;

	return read_uleb(r, &bytes) && skip(r, bytes);
}

static bool check_register(struct reading *r, uint64_t n_registers)
{
	uint64_t value;

	return skip_ulebs(r, 1) && read_uleb(r, &value) && value < n_registers;
}

/* Signed numbers are skipped as unsigned ones, as both are encoded in the same number of bytes. */
static bool check_operands(struct reading *r, uint8_t op, uint64_t n_registers)
{
	switch (op) {
	case DW_CFA_nop:
	case DW_CFA_remember_state:
	case DW_CFA_restore_state:
	case CFA_GNU_WINDOW_SAVE:
		return true;
	case DW_CFA_advance_loc1:
		return skip(r, 1);
	case DW_CFA_advance_loc2:
		return skip(r, 2);
	case DW_CFA_advance_loc4:
		return skip(r, 4);
	case CFA_MIPS_ADVANCE_LOC8:
		return skip(r, 8);
	case DW_CFA_restore_extended:
	case DW_CFA_undefined:
	case DW_CFA_same_value:
	case DW_CFA_def_cfa_register:
	case DW_CFA_def_cfa_offset:
	case DW_CFA_def_cfa_offset_sf:
	case CFA_GNU_ARGS_SIZE:
		return skip_ulebs(r, 1);
	case DW_CFA_offset_extended:
	case DW_CFA_offset_extended_sf:
	case DW_CFA_def_cfa:
	case DW_CFA_def_cfa_sf:
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf:
	case CFA_GNU_NEGATIVE:
		return skip_ulebs(r, 2);
	case DW_CFA_register:
		return check_register(r, n_registers);
	case DW_CFA_def_cfa_expression:
		return skip_block(r);
	case DW_CFA_expression:
	case DW_CFA_val_expression:
		return skip_ulebs(r, 1) && skip_block(r);
	}
	return false;
}

static bool check_instruction(struct reading *r, uint64_t n_registers)
{
	uint8_t op;

	if (!read_byte(r, &op))
		return false;
	switch (op & 0xc0) {
	case DW_CFA_advance_loc:
	case DW_CFA_restore:
		return true;
	case DW_CFA_offset:
		return skip_ulebs(r, 1);
	}
	return check_operands(r, op, n_registers);
}

bool cfi_is_sound(const struct cfi_range *range, uint64_t n_registers,
		  const struct cfi_memory *memory)
{
	struct reading r = { .memory = memory, .at = range->start, .end = range->end };

	while (r.at < r.end)
		if (!check_instruction(&r, n_registers))
			return false;
	return true;
}
