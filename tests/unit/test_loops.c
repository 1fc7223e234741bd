/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Natural loops in machine code: nesting, exits, cold code behind the end, what is none. */
#include "unit.h"

#include "probes/code/loops.h"
#include "probes/place/placement.h"

#define START 0x1000

struct around {
	bool any;
	struct loop outer, inner;
};

static struct around at(const void *code, size_t n, uint64_t offset, enum code_machine machine)
{
	struct code_input in = {
		.machine = machine, .code = code, .size_bytes = n, .address = START
	};
	struct loops *l = loops_read(&in);
	struct around a = { 0 };

	a.any = loops_around(l, START + offset, &a.outer, &a.inner);
	loops_free(l);
	return a;
}

/* for (;;) { do x--; while (x); if (!--y) break; } */
static const char nested[] = "\x55"	/*  0 push */
			     "\x89\xf8" /*  1 mov %edi,%eax */
			     "\xff\xc8" /*  3 dec %eax */
			     "\x75\xfc" /*  5 jne 3 */
			     "\xff\xce" /*  7 dec %esi */
			     "\x74\x02" /*  9 je 13 */
			     "\xeb\xf4" /* 11 jmp 1 */
			     "\x5d\xc3" /* 13 pop, ret */;

static void inner_and_outer(void **state)
{
	struct around a;

	for (uint64_t i = 3; i < 7; i++) {
		a = at(nested, sizeof(nested) - 1, i, CODE_X86_64);
		assert_true(a.any);
		assert_int_equal(a.inner.head, START + 3);
		assert_int_equal(a.inner.branch, START + 5);
		assert_int_equal(a.outer.head, START + 1);
		assert_int_equal(a.outer.branch, START + 11);
	}
	a = at(nested, sizeof(nested) - 1, 8, CODE_X86_64);
	assert_true(a.any);
	assert_int_equal(a.inner.head, START + 1);
	assert_int_equal(a.outer.head, START + 1);
	assert_false(at(nested, sizeof(nested) - 1, 0, CODE_X86_64).any);
	assert_false(at(nested, sizeof(nested) - 1, 13, CODE_X86_64).any);
	assert_false(at(nested, sizeof(nested) - 1, 100, CODE_X86_64).any);
	assert_false(at(nested, sizeof(nested) - 1, (uint64_t)-1, CODE_X86_64).any);
}

/* What is unlikely stands behind the end and jumps back to where it came from: no loop. */
static void cold_code_is_no_loop(void **state)
{
	static const char code[] = "\x85\xff" /* 0 test %edi,%edi */
				   "\x74\x03" /* 2 je 7 */
				   "\xff\xc0" /* 4 inc %eax */
				   "\xc3"     /* 6 ret */
				   "\xff\xc9" /* 7 dec %ecx */
				   "\xeb\xf9" /* 9 jmp 4 */;

	for (uint64_t i = 0; i < sizeof(code) - 1; i++)
		assert_false(at(code, sizeof(code) - 1, i, CODE_X86_64).any);
}

/* Two ways to go on are one loop, up to the last of them. */
static void continue_is_the_same_loop(void **state)
{
	static const char code[] = "\xff\xc8" /* 0 dec %eax */
				   "\x74\xfc" /* 2 je 0 */
				   "\xff\xc9" /* 4 dec %ecx */
				   "\x75\xf8" /* 6 jne 0 */
				   "\xc3";    /* 8 */
	struct around a = at(code, sizeof(code) - 1, 4, CODE_X86_64);

	assert_true(a.any);
	assert_int_equal(a.inner.head, START);
	assert_int_equal(a.inner.branch, START + 6);
	assert_int_equal(a.outer.insns, 4);
	assert_int_equal(a.inner.insns, 4);
	assert_false(at(code, sizeof(code) - 1, 8, CODE_X86_64).any);
}

static void arm64(void **state)
{
	static const uint32_t code[] = {
		0xaa0003e1, /*  0 mov x1, x0 */
		0xd1000421, /*  4 sub x1, x1, #1 */
		0xb5ffffe1, /*  8 cbnz x1, 4 */
		0xd65f03c0, /* 12 ret */
	};

	assert_true(at(code, sizeof(code), 4, CODE_AARCH64).any);
	assert_int_equal(at(code, sizeof(code), 8, CODE_AARCH64).inner.branch, START + 8);
	assert_false(at(code, sizeof(code), 0, CODE_AARCH64).any);
	assert_false(at(code, sizeof(code), 12, CODE_AARCH64).any);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(inner_and_outer),
		cmocka_unit_test(cold_code_is_no_loop),
		cmocka_unit_test(continue_is_the_same_loop),
		cmocka_unit_test(arm64),
	};

	return unit_run(tests);
}
