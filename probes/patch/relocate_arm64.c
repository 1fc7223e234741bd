// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What names an address near itself is written with an absolute reach: adr and a literal as adrp
 * and add, which reach 4 GB, and a conditional branch as its inverse around b, which reaches
 * 128 MB. No other register than the instruction's own is changed.
 */
#include "probes/patch/relocate_arm64.h"

#include <errno.h>
#include <stdbool.h>

#include "probes/patch/layout_arm64.h"
#include "probes/patch/site.h"
#include "probes/patch/relocate.h"

#define INSN 4u

struct writer {
	struct patch_code *out;
	uint64_t address; /* of the next instruction */
	bool too_far;
};

static void put(uint8_t *to, uint32_t w)
{
	for (unsigned i = 0; i < INSN; i++)
		to[i] = (uint8_t)(w >> (8 * i));
}

static void write_word(struct writer *w, uint32_t word)
{
	put(w->out->bytes + w->out->n, word);
	w->out->n += INSN;
	w->address += INSN;
}

/* Returns whether a distance fits into that many bits with a sign. */
static bool fits(int64_t distance, int bits)
{
	return distance >= -(1ll << (bits - 1)) && distance < 1ll << (bits - 1);
}

static bool jump_word(uint64_t from, uint64_t to, uint32_t *word)
{
	const int64_t distance = (int64_t)(to - from);

	*word = 0x14000000 | ((uint32_t)(distance / 4) & 0x03ffffff);
	return fits(distance, 28) && distance % 4 == 0;
}

static void write_jump(struct writer *w, uint64_t target)
{
	uint32_t word;

	w->too_far |= !jump_word(w->address, target, &word);
	write_word(w, word);
}

static void write_adrp(struct writer *w, unsigned reg, uint64_t target)
{
	const int64_t pages = (int64_t)(target >> 12) - (int64_t)(w->address >> 12);
	const uint32_t low = (uint32_t)pages & 3, high = (uint32_t)(pages >> 2) & 0x7ffff;

	w->too_far |= !fits(pages, 21);
	write_word(w, 0x90000000 | low << 29 | high << 5 | reg);
}

static void write_address(struct writer *w, unsigned reg, uint64_t target)
{
	write_adrp(w, reg, target);
	write_word(w, 0x91000000 | (uint32_t)(target & 0xfff) << 10 | reg << 5 | reg);
}

/* The three literal loads as loads from the address in their own register. */
static void write_literal(struct writer *w, uint32_t word, uint64_t target)
{
	static const uint32_t loads[] = { 0xb9400000, 0xf9400000, 0xb9800000 };
	const unsigned reg = arm64_field(word, 4, 0);

	write_address(w, reg, target);
	write_word(w, loads[arm64_field(word, 31, 30)] | reg << 5 | reg);
}

/* Writes the inverse of a conditional branch, which skips `bytes` bytes behind itself. */
static void write_inverse(struct writer *w, uint32_t word, size_t bytes)
{
	const uint32_t distance = (uint32_t)(bytes / INSN) + 1;

	switch (arm64_kind(word)) {
	case ARM64_BCOND:
		write_word(w, (word & 0xff00000f) ^ 1 ^ distance << 5);
		break;
	case ARM64_COMPARE:
		write_word(w, (word & 0xff00001f) ^ 0x01000000 ^ distance << 5);
		break;
	default: /* ARM64_TEST */
		write_word(w, (word & 0xfff8001f) ^ 0x01000000 ^ distance << 5);
	}
}

/*
 * The branch is inverted, so that control that stays in the function skips the caller's code and
 * the jump behind it.
 */
static void write_branch(struct writer *w, uint32_t word, uint64_t target, size_t gap)
{
	write_inverse(w, word, gap + INSN);
	w->out->exit_at = w->out->n;
	w->address += gap;
	write_jump(w, target);
}

static void write_moved(struct writer *w, uint32_t word, uint64_t address, size_t gap)
{
	const uint64_t names = arm64_names(word, address);

	switch (arm64_kind(word)) {
	case ARM64_B:
		write_jump(w, names);
		break;
	case ARM64_BCOND:
	case ARM64_COMPARE:
	case ARM64_TEST:
		write_branch(w, word, names, gap);
		break;
	case ARM64_ADR:
		write_address(w, arm64_field(word, 4, 0), names);
		break;
	case ARM64_ADRP:
		write_adrp(w, arm64_field(word, 4, 0), names);
		break;
	case ARM64_LITERAL:
		write_literal(w, word, names);
		break;
	default:
		write_word(w, word);
	}
}

static bool ends_control(uint32_t word)
{
	const enum arm64_kind kind = arm64_kind(word);

	return kind == ARM64_B || kind == ARM64_REGISTER; /* no call can be moved */
}

int relocate_arm64(const struct patch_site *site, uint64_t site_address, uint64_t stub_address,
		   size_t entry_gap, size_t exit_gap, struct patch_code *out)
{
	struct writer w = { .out = out, .address = stub_address + entry_gap };
	const uint32_t word = arm64_word(site->original);

	out->n = out->exit_at = 0;
	if (site->n_code != INSN || !arm64_can_move(word) || exit_gap > RELOCATE_GAP_MAX)
		return -EINVAL;
	if (site->exit == PATCH_RET || site->exit == PATCH_JUMP)
		w.address += exit_gap;
	write_moved(&w, word, site_address, exit_gap);
	if (!ends_control(word))
		write_jump(&w, site_address + INSN);
	if (site->exit == PATCH_NO_EXIT)
		out->exit_at = out->n;
	return w.too_far ? -ERANGE : 0;
}

int relocate_jump_arm64(uint64_t from, uint64_t to, uint8_t *bytes)
{
	uint32_t word;
	const bool fits = jump_word(from, to, &word);

	put(bytes, word);
	return fits ? 0 : -ERANGE;
}
