/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/place/returns.h"

#include <string.h>

#include "probes/bpf/wire.h"
#include "unit.h"

#define SP	   0x7000ull
#define TRAMPOLINE 0xfff000ull
#define LINK	   30

static struct wire_copy copy;

static void put_word(unsigned at, uint64_t word)
{
	memcpy(copy.stack + at, &word, sizeof(word));
}

static uint64_t get_word(unsigned at)
{
	uint64_t word;

	memcpy(&word, copy.stack + at, sizeof(word));
	return word;
}

static void start(uint32_t n_bytes)
{
	memset(&copy, 0, sizeof(copy));
	copy.trampoline = TRAMPOLINE;
	copy.n_bytes = n_bytes;
}

static void add_return(uint64_t stack, uint64_t address)
{
	copy.returns[copy.n_returns].stack = stack;
	copy.returns[copy.n_returns++].address = address;
}

static void test_on_stack(void **state)
{
	start(128);
	add_return(SP + 16, 0x111);
	add_return(SP + 64, 0x222);
	add_return(SP + 4096, 0x333); /* beyond the copy */
	put_word(16, TRAMPOLINE);
	put_word(64, 0x5555); /* not replaced any more */
	returns_restore(&copy, SP, RETURNS_ON_STACK);
	assert_int_equal(get_word(16), 0x111);
	assert_int_equal(get_word(64), 0x5555);
}

/* inner has just begun; its callers have saved their links at the bottom of their frames. */
static void test_link_register(void **state)
{
	start(128);
	add_return(SP, 0x111);
	add_return(SP + 32, 0x222);
	add_return(SP + 96, 0x333);
	copy.registers[LINK] = TRAMPOLINE;
	put_word(8, TRAMPOLINE);
	put_word(24, TRAMPOLINE); /* left over */
	put_word(40, TRAMPOLINE);
	returns_restore(&copy, SP, LINK);
	assert_int_equal(copy.registers[LINK], 0x111);
	assert_int_equal(get_word(8), 0x222);
	assert_int_equal(get_word(24), TRAMPOLINE);
	assert_int_equal(get_word(40), 0x333);
}

/* The function has signed the trampoline, as it would have its caller's address. */
static void test_signed(void **state)
{
	start(64);
	add_return(SP, 0x111);
	add_return(SP + 32, 0x222);
	copy.registers[LINK] = TRAMPOLINE | 0x2f000000000000;
	put_word(8, TRAMPOLINE | 0x4a000000000000);
	returns_restore(&copy, SP, LINK);
	assert_int_equal(copy.registers[LINK], 0x111);
	assert_int_equal(get_word(8), 0x222);
}

/* At the end of 52 bits, as kernels have it that have so many. */
static void test_far_trampoline(void **state)
{
	const uint64_t far = 0xffffffffff000ull;

	start(64);
	copy.trampoline = far;
	add_return(SP, 0x111);
	add_return(SP + 32, 0x222);
	copy.registers[LINK] = far;
	put_word(8, far | 0x40000000000000);
	returns_restore(&copy, SP, LINK);
	assert_int_equal(copy.registers[LINK], 0x111);
	assert_int_equal(get_word(8), 0x222);
}

static void test_no_link(void **state)
{
	start(64);
	copy.registers[LINK] = 0x999; /* the function itself has no return probe */
	add_return(SP + 32, 0x222);
	add_return(SP + 32, 0x222); /* a tail call */
	put_word(8, TRAMPOLINE);
	put_word(40, TRAMPOLINE);
	returns_restore(&copy, SP, LINK);
	assert_int_equal(copy.registers[LINK], 0x999);
	assert_int_equal(get_word(8), 0x222);
	assert_int_equal(get_word(40), TRAMPOLINE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_on_stack), cmocka_unit_test(test_link_register),
		cmocka_unit_test(test_signed),	 cmocka_unit_test(test_far_trampoline),
		cmocka_unit_test(test_no_link),
	};

	return unit_run(tests);
}
