// SPDX-License-Identifier: GPL-3.0-or-later
/* No instruction here changes the flags, so they need not be saved. */
#ifdef __aarch64__
#include "probes/inject/machine/steps.h"

#include <sys/syscall.h>

#include "probes/inject/machine/stub.h"
#include "probes/patch/layout_arm64.h"

#define ROOM	   320u
#define ENTRY	   128u
#define JUMP	   4u
#define NEAR_BYTES 0x7000000u /* how far a jump reaches, less some room */

enum { TOLD = 2, KEPT = 9, NUMBER = 8, FAR_AWAY = 17 }; /* registers */

static void emit(struct stub_code *c, uint32_t w)
{
	stub_emit(c, &w, sizeof(w));
}

size_t steps_room(void)
{
	return ROOM;
}

size_t steps_entry(void)
{
	return ENTRY;
}

/* x16 and x17 come last off the stack, when the way back needs them no more. */
void steps_save(struct stub_code *c)
{
	emit(c, 0xa9bf47f0); /* stp x16, x17, [sp, #-16]! */
	emit(c, 0xa9bb07e0); /* stp x0, x1, [sp, #-80]! */
	emit(c, 0xa9010fe2); /* stp x2, x3, [sp, #16] */
	emit(c, 0xa90217e4); /* stp x4, x5, [sp, #32] */
	emit(c, 0xa9031fe6); /* stp x6, x7, [sp, #48] */
	emit(c, 0xa90427e8); /* stp x8, x9, [sp, #64] */
}

static void restore_all_but_two(struct stub_code *c)
{
	emit(c, 0xa94427e8); /* ldp x8, x9, [sp, #64] */
	emit(c, 0xa9431fe6); /* ldp x6, x7, [sp, #48] */
	emit(c, 0xa94217e4); /* ldp x4, x5, [sp, #32] */
	emit(c, 0xa9410fe2); /* ldp x2, x3, [sp, #16] */
	emit(c, 0xa8c507e0); /* ldp x0, x1, [sp], #80 */
}

static void restore_two(struct stub_code *c)
{
	emit(c, 0xa8c147f0); /* ldp x16, x17, [sp], #16 */
}

void steps_restore(struct stub_code *c)
{
	restore_all_but_two(c);
	restore_two(c);
}

/* Emits the fewest movz and movk. */
static void set(struct stub_code *c, unsigned reg, uint64_t value)
{
	uint32_t move = 0xd2800000; /* movz */

	for (unsigned i = 0; i < 4; i++) {
		const uint32_t part = (uint32_t)(value >> (16 * i)) & 0xffff;

		if (!part && !(i == 3 && move == 0xd2800000))
			continue;
		emit(c, move | i << 21 | part << 5 | reg);
		move = 0xf2800000; /* movk */
	}
}

static void move(struct stub_code *c, unsigned to, unsigned from)
{
	emit(c, 0xaa0003e0 | from << 16 | to);
}

/* ret checks nothing where it arrives, as br does in memory that guards its branch targets. */
void steps_resume(struct stub_code *c, uint64_t resume, uint64_t *back)
{
	restore_all_but_two(c);
	if (*back) {
		set(c, FAR_AWAY, *back);
		emit(c, 0xd65f0000 | FAR_AWAY << 5); /* ret x17 */
		return;
	}
	*back = c->address + c->n;
	restore_two(c);
	stub_emit_jump(c, resume);
}

void steps_arguments(struct stub_code *c, const uint64_t args[6])
{
	for (unsigned i = 0; i < 6; i++)
		set(c, i, args[i]);
}

void steps_call(struct stub_code *c, uint32_t number)
{
	set(c, NUMBER, number);
	emit(c, 0xd4000001); /* svc #0 */
}

/* The first register is what the call of the mark itself returns. */
void steps_mark(struct stub_code *c, uint32_t tag)
{
	move(c, TOLD, 0);
	set(c, 1, tag);
	steps_call(c, SYS_getpid);
}

void steps_told_argument(struct stub_code *c, uint64_t second, uint64_t third)
{
	move(c, 0, TOLD);
	set(c, 1, second);
	set(c, 2, third);
}

void steps_go_to_told(struct stub_code *c)
{
	emit(c, 0xb7f80080 | TOLD);	     /* tbnz x2, #63, .+16 */
	emit(c, 0xf9400000 | TOLD << 5 | 0); /* ldr x0, [x2] */
	emit(c, 0xb4000040);		     /* cbz x0, .+8 */
	emit(c, 0xd65f0000 | TOLD << 5);     /* ret x2 */
}

void steps_keep(struct stub_code *c)
{
	move(c, KEPT, 0);
}

void steps_kept_first(struct stub_code *c)
{
	move(c, 0, KEPT);
}

void steps_kept_fifth(struct stub_code *c)
{
	move(c, 4, KEPT);
}

size_t steps_fixed_bytes(const uint8_t *p)
{
	return arm64_is_landing(arm64_word(p)) ? JUMP : 0;
}

size_t steps_movable_bytes(const uint8_t *p, size_t jump)
{
	return arm64_kind(arm64_word(p)) == ARM64_OTHER ? jump : 0;
}

size_t steps_near_jump(void)
{
	return JUMP;
}

size_t steps_far_jump(void)
{
	return 0;
}

uint64_t steps_reach(void)
{
	return NEAR_BYTES;
}

void steps_jump(struct stub_code *c, uint64_t to, size_t bytes)
{
	(void)bytes;
	stub_emit_jump(c, to);
}

#endif
