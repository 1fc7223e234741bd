/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which instructions of a program's first ones make way for a jump. */
#include "unit.h"

#include "probes/inject/machine/steps.h"

enum { NEAR = 5, FAR = 14 };

/* As the C libraries of x86-64 begin a program. */
static const uint8_t glibc[STEPS_JUMP_MOST + 8] = {
	0xf3, 0x0f, 0x1e, 0xfa,				      /* endbr64 */
	0x31, 0xed, 0x49, 0x89, 0xd1, 0x5e, 0x48, 0x89, 0xe2, /* xor, mov, pop, mov */
	0x48, 0x83, 0xe4, 0xf0, 0x50, 0x54, 0x45,	      /* and, push, others */
};
static const uint8_t musl[STEPS_JUMP_MOST + 8] = {
	0x48, 0x31, 0xed, 0x48, 0x89, 0xe7, 0x48, 0x8d, 0x35, /* xor, mov, lea */
};

static void whole_instructions_make_way(void **state)
{
	assert_int_equal(steps_movable_bytes(glibc, NEAR), 6);
	assert_int_equal(steps_movable_bytes(glibc, FAR), 17);
	assert_int_equal(steps_movable_bytes(glibc + 4, NEAR), 5); /* without endbr64 */
	assert_int_equal(steps_movable_bytes(musl, NEAR), 6);
}

/* Others may refer to where they are, as musl's lea does. */
static void unknown_instructions_stay(void **state)
{
	static const uint8_t jumps[STEPS_JUMP_MOST + 8] = { 0x31, 0xed, 0xe9, 1, 2, 3, 4 };

	assert_int_equal(steps_movable_bytes(musl, FAR), 0);
	assert_int_equal(steps_movable_bytes(jumps, NEAR), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_instructions_make_way),
		cmocka_unit_test(unknown_instructions_stay),
	};

	return unit_run(tests);
}
