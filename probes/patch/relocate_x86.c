/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/patch/relocate_x86.h"

#include <errno.h>
#include <string.h>

#include "probes/patch/layout_x86.h"
#include "probes/patch/site.h"
#include "probes/patch/relocate.h"

struct writer {
	struct patch_code *out;
	uint64_t address; /* of the next byte */
	bool too_far;
};

static void write_bytes(struct writer *w, const uint8_t *bytes, size_t n)
{
	memcpy(w->out->bytes + w->out->n, bytes, n);
	w->out->n += n;
	w->address += n;
}

/* Writes the distance to target into the next instruction, which has n bytes. */
static void aim(struct writer *w, uint8_t *insn, size_t at, size_t n, uint64_t target)
{
	int64_t distance = (int64_t)(target - (w->address + n));
	int32_t written = (int32_t)distance;

	w->too_far |= distance != written;
	memcpy(insn + at, &written, sizeof(written));
}

static void write_jump(struct writer *w, uint64_t target)
{
	uint8_t insn[PATCH_JUMP_BYTES] = { 0xe9 };

	aim(w, insn, 1, sizeof(insn), target);
	write_bytes(w, insn, sizeof(insn));
}

static uint8_t condition(const struct layout *l)
{
	return l->opcode & 0x0f;
}

static void write_branch(struct writer *w, uint8_t on, uint64_t target)
{
	uint8_t insn[6] = { 0x0f, 0x80 | on };

	aim(w, insn, 2, sizeof(insn), target);
	write_bytes(w, insn, sizeof(insn));
}

static void write_moved(struct writer *w, const struct layout *l, const uint8_t *code,
			uint64_t address)
{
	uint8_t insn[16];

	if (l->relative && layout_is_jump(l)) {
		write_jump(w, layout_leads_to(l, code, address));
	} else if (l->relative) {
		write_branch(w, condition(l), layout_leads_to(l, code, address));
	} else {
		memcpy(insn, code, l->length);
		if (l->rip)
			aim(w, insn, l->disp_at, l->length, layout_names(l, code, address));
		write_bytes(w, insn, l->length);
	}
}

/*
 * The branch is inverted, so that control that stays in the function skips the caller's code and
 * the jump behind it.
 */
static void write_leaving_branch(struct writer *w, const struct layout *l, const uint8_t *code,
				 uint64_t address, size_t gap)
{
	uint64_t around = w->address + 6 + gap + PATCH_JUMP_BYTES;

	write_branch(w, condition(l) ^ 1, around);
	w->out->exit_at = w->out->n;
	w->address += gap;
	write_jump(w, layout_leads_to(l, code, address));
}

static void write_exit(struct writer *w, const struct layout *l, const uint8_t *code,
		       uint64_t address, size_t gap)
{
	w->out->exit_at = w->out->n;
	w->address += gap;
	write_moved(w, l, code, address);
}

int relocate_x86(const struct patch_site *site, uint64_t site_address, uint64_t stub_address,
		 size_t entry_gap, size_t exit_gap, struct patch_code *out)
{
	struct writer w = { .out = out, .address = stub_address + entry_gap };
	struct layout l = { 0 };

	out->n = 0;
	for (size_t at = 0; at < site->n_code; at += l.length) {
		const uint8_t *code = site->original + at;
		bool is_last;

		if (!layout_read(code, site->n_code - at, &l))
			return -EINVAL;
		is_last = at + l.length == site->n_code;
		if (!is_last || site->exit == PATCH_NO_EXIT)
			write_moved(&w, &l, code, site_address + at);
		else if (site->exit == PATCH_BRANCH)
			write_leaving_branch(&w, &l, code, site_address + at, exit_gap);
		else
			write_exit(&w, &l, code, site_address + at, exit_gap);
	}
	if (!layout_is_jump(&l) && !layout_is_ret(&l))
		write_jump(&w, site_address + site->n_code);
	if (site->exit == PATCH_NO_EXIT)
		out->exit_at = out->n;
	return w.too_far ? -ERANGE : 0;
}

int relocate_jump_x86(uint64_t from, uint64_t to, uint8_t *bytes)
{
	int64_t distance = (int64_t)(to - (from + PATCH_JUMP_BYTES));
	int32_t written = (int32_t)distance;

	bytes[0] = 0xe9;
	memcpy(bytes + 1, &written, sizeof(written));
	return distance == written ? 0 : -ERANGE;
}

int relocate_short_jump_x86(uint64_t from, uint64_t to, uint8_t *bytes)
{
	int64_t distance = (int64_t)(to - (from + PATCH_SHORT_BYTES));

	bytes[0] = 0xeb;
	bytes[1] = (uint8_t)distance;
	return distance == (int8_t)distance ? 0 : -ERANGE;
}
