// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/patch/sweep_x86.h"

#include <string.h>

#include "probes/patch/layout_x86.h"
#include "probes/patch/sweep.h"
#include "probes/patch/targets.h"

static void note_number(struct sweep *s, const struct layout *l, const uint8_t *code)
{
	uint64_t value = 0;

	memcpy(&value, code + l->imm_at, l->imm_bytes);
	sweep_address(s, value);
}

static void note_insn(struct sweep *s, const struct layout *l, const uint8_t *code, uint64_t at)
{
	if (l->relative)
		sweep_branch(s, at, layout_leads_to(l, code, at), layout_is_call(l));
	else if (s->t->is_absolute && (l->imm_bytes == 4 || l->imm_bytes == 8))
		note_number(s, l, code);
	if (l->rip)
		sweep_address(s, layout_names(l, code, at));
}

/* Marks nops behind an instruction that does not go on: they belong to no function. */
static void note_padding(struct sweep *s, const struct layout *l, uint64_t at)
{
	if (!s->dead || !(layout_is_nop(l) || (l->map == MAP_BYTE && l->opcode == 0xcc)))
		s->dead = layout_is_jump(l) || layout_is_ret(l);
	else
		for (size_t i = 0; i < l->length; i++)
			targets_mark(s->t, at + i, MARK_PADDING);
}

void sweep_x86(struct sweep *s)
{
	size_t n;
	const uint8_t *code = targets_code(s->t, s->start, &n);
	struct layout l;

	if (n > s->end - s->start)
		n = s->end - s->start;
	for (size_t at = 0; code && at < n;) {
		if (!layout_read(code + at, n - at, &l)) {
			s->dead = false;
			at++;
			continue;
		}
		note_insn(s, &l, code + at, s->start + at);
		note_padding(s, &l, s->start + at);
		at += l.length;
	}
}
