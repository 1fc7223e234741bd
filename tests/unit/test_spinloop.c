/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit.h"

#include <string.h>

#include "probes/code/spinloop.h"

#define START 0x1000

static bool in(const char *code, size_t n, uint64_t at, bool aarch64)
{
	return spinloop_in((const uint8_t *)code, n, START, START + at, aarch64);
}

/* gcc -O2: while (exchange(&taken, 1)) while (taken) pause; */
static void nested_spin_x86(void **state)
{
	static const char code[] = "\x55"		      /*  0 push */
				   "\xb8\x01\x00\x00\x00"     /*  1 mov $1,%eax */
				   "\x87\x05\x00\x00\x00\x00" /*  6 xchg %eax,taken */
				   "\x85\xc0"		      /* 12 test */
				   "\x74\x0c"		      /* 14 je 28 */
				   "\x8b\x05\x00\x00\x00\x00" /* 16 mov taken,%eax */
				   "\xf3\x90"		      /* 22 pause */
				   "\x85\xc0"		      /* 24 test */
				   "\x75\xf4"		      /* 26 jne 16 */
				   "\xeb\xe3"		      /* 28 jmp 1 */
				   "\x5d\xc3";		      /* 30 pop, ret */

	for (uint64_t at = 16; at < 28; at++)
		assert_true(in(code, sizeof(code) - 1, at, false));
	/* the exchange is in the outer loop around the same pause */
	assert_true(in(code, sizeof(code) - 1, 6, false));
	assert_false(in(code, sizeof(code) - 1, 0, false));
	assert_false(in(code, sizeof(code) - 1, 30, false));
	assert_false(in(code, sizeof(code) - 1, 32, false));
	assert_false(in(code, sizeof(code) - 1, (uint64_t)-16, false));
}

/* A pause that no loop surrounds, a loop beside it, and pause's bytes inside an instruction. */
static void no_spin_x86(void **state)
{
	static const char beside[] = "\xf3\x90" /* 0 pause */
				     "\xff\xc8" /* 2 dec */
				     "\x75\xfc" /* 4 jne 2 */
				     "\xc3";
	static const char hidden[] = "\xb8\xf3\x90\x00\x00" /* 0 mov $0x90f3,%eax */
				     "\xff\xc9"		    /* 5 dec */
				     "\x75\xf7"		    /* 7 jne 0 */
				     "\xc3";

	for (uint64_t at = 0; at < 7; at++)
		assert_false(in(beside, sizeof(beside) - 1, at, false));
	for (uint64_t at = 0; at < 9; at++)
		assert_false(in(hidden, sizeof(hidden) - 1, at, false));
}

/* A work loop of many bytes that happens to hold a pause is none that waits. */
static void long_loops_work(void **state)
{
	char code[400];

	memset(code, 0x90, sizeof(code));
	memcpy(code + 100, "\xf3\x90", 2);
	memcpy(code + 300, "\x0f\x85\xcd\xfe\xff\xff", 6); /* jne 5 */
	assert_false(in(code, sizeof(code), 101, false));
	assert_false(in(code, sizeof(code), 99, false));
	memcpy(code + 102, "\x75\xfc", 2); /* jne 100 */
	assert_true(in(code, sizeof(code), 102, false));
	assert_false(in(code, sizeof(code), 104, false));
}

static void spin_arm64(void **state)
{
	static const uint32_t words[] = {
		0xb9400001, /*  0 ldr w1, [x0] */
		0xd503203f, /*  4 yield */
		0x35ffffc1, /*  8 cbnz w1, 0 */
		0xd65f03c0, /* 12 ret */
	};

	for (uint64_t at = 0; at < 12; at += 4)
		assert_true(in((const char *)words, sizeof(words), at, true));
	assert_false(in((const char *)words, sizeof(words), 12, true));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nested_spin_x86),
		cmocka_unit_test(no_spin_x86),
		cmocka_unit_test(long_loops_work),
		cmocka_unit_test(spin_arm64),
	};

	return unit_run(tests);
}
