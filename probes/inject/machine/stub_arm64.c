// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A stub saves two registers and calls a routine of the blob, which does the rest. There is no red
 * zone, and no flag has a meaning at an entry or exit.
 */
#ifdef __aarch64__
#include "probes/inject/machine/stub.h"

#include "probes/inproc/inproc.h"
#include "probes/patch/layout_arm64.h"
#include "probes/patch/relocate.h"

enum { SECOND_WORD = 16 }; /* a register */

static void emit(struct stub_code *c, uint32_t w)
{
	stub_emit(c, &w, sizeof(w));
}

/* A routine is in the same arena, so it is near. */
static void emit_record(struct stub_code *c, uint64_t routine, uint32_t what)
{
	uint64_t distance;

	emit(c, 0xa9bf7bf0);					  /* stp x16, x30, [sp, #-16]! */
	emit(c, 0x52800000 | (what & 0xffff) << 5 | SECOND_WORD); /* mov w16, #low */
	emit(c, 0x72a00000 | what >> 16 << 5 | SECOND_WORD);	  /* movk w16, #high, lsl #16 */
	distance = routine - (c->address + c->n);
	emit(c, 0x94000000 | ((uint32_t)(distance >> 2) & 0x3ffffff)); /* bl routine */
	emit(c, 0xa8c17bf0);					       /* ldp x16, x30, [sp], #16 */
}

void stub_emit_site_entry(struct stub_code *c, struct stub_site *s)
{
	uint32_t values = s->entry.values << INPROC_VALUE_SHIFT;

	if (values && s->entry.sometimes && !s->is_sampled)
		values |= STUB_SOMETIMES;
	if (s->entry.waits)
		values |= STUB_WAITS;
	if (s->is_entry)
		emit_record(c, s->facts->enter, s->entry.id << 1 | values);
}

void stub_emit_site_exit(struct stub_code *c, struct stub_site *s)
{
	if (s->is_exit)
		emit_record(
			c, s->facts->leave,
			s->entry.id << 1 | 1 |
				(s->returns ? 1u << (INPROC_VALUE_SHIFT + INPROC_RETURNED) : 0));
}

void stub_emit_site_rest(struct stub_code *c, const struct stub_site *s)
{
	(void)c, (void)s;
}

void stub_emit_nop(struct stub_code *c)
{
	emit(c, 0xd503201f);
}

void stub_emit_return(struct stub_code *c)
{
	emit(c, 0xd65f03c0);
}

void stub_emit_jump(struct stub_code *c, uint64_t to)
{
	uint8_t jump[PATCH_JUMP_BYTES];

	patch_jump(CODE_AARCH64, c->address + c->n, to, jump);
	stub_emit(c, jump, PATCH_JUMP_BYTES_ARM64);
}

uint64_t stub_jump_goal(uint64_t at, const uint8_t *jump, size_t n)
{
	const uint32_t w = arm64_word(jump);

	return n == PATCH_JUMP_BYTES_ARM64 && arm64_kind(w) == ARM64_B ? arm64_names(w, at) : 0;
}

size_t stub_breakpoint_bytes(const uint8_t *code)
{
	return (arm64_word(code) & 0xffe0001f) == 0xd4200000 ? 4 : 0; /* brk */
}

#endif
