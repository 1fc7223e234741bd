/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dso_fixture.h"

#include <string.h>

#include "probes/code/spinloop.h"
#include "symbol/dso/symbols.h"

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

struct loop {
	const char *code;
	size_t n;
	uint64_t looks; /* bytes from the start that are in the loop */
};

#define LOOP(bytes, looks)                      \
	{                                       \
		bytes, sizeof(bytes) - 1, looks \
	}

static void assert_looks(const struct loop *loops, size_t n, bool spins)
{
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(in(loops[i].code, loops[i].n, 0, false), spins);
		assert_false(in(loops[i].code, loops[i].n, loops[i].looks, false));
	}
}

/* Waits without a pause: nothing but another thread, or a number of rounds, ends them. */
static void looks_again_x86(void **state)
{
	static const struct loop loops[] = {
		/* sub $1,%eax; je 14; mov (%rbp),%rdx; test %rdx,%rdx; je 0; ret */
		LOOP("\x83\xe8\x01\x74\x09\x48\x8b\x55\x00\x48\x85\xd2\x74\xf2\xc3", 14),
		/* mov $1,%eax; xchg %eax,(%rdi); test %eax,%eax; jne 0; ret */
		LOOP("\xb8\x01\x00\x00\x00\x87\x07\x85\xc0\x75\xf5\xc3", 11),
		/* xor %eax,%eax; lock cmpxchg %edx,(%rdi); jne 0; ret */
		LOOP("\x31\xc0\xf0\x0f\xb1\x17\x75\xf8\xc3", 8),
		/* gcc -O0: mov -8(%rbp),%rax; mov (%rax),%eax; test %eax,%eax; je 0; ret */
		LOOP("\x48\x8b\x45\xf8\x8b\x00\x85\xc0\x74\xf6\xc3", 10),
	};

	assert_looks(loops, sizeof(loops) / sizeof(loops[0]), true);
	assert_true(in(loops[0].code, loops[0].n, 5, false));
	/* not the first byte of an instruction */
	assert_false(in(loops[0].code, loops[0].n, 6, false));
}

/* Short loops that get on by themselves, or that try again with a new value. */
static void works_x86(void **state)
{
	static const struct loop loops[] = {
		/* mov (%rdi),%eax; lea 1(%rax),%edx; lock cmpxchg %edx,(%rdi); jne 0; ret */
		LOOP("\x8b\x07\x8d\x50\x01\xf0\x0f\xb1\x17\x75\xf5\xc3", 11),
		/* mov (%rax),%rax; test %rax,%rax; jne 0; ret */
		LOOP("\x48\x8b\x00\x48\x85\xc0\x75\xf8\xc3", 8),
		/* add $1,%rax; cmpb $0,(%rax); jne 0; ret */
		LOOP("\x48\x83\xc0\x01\x80\x38\x00\x75\xf7\xc3", 9),
		/* addl $1,-4(%rbp); cmpl $100,-4(%rbp); jle 0; ret */
		LOOP("\x83\x45\xfc\x01\x83\x7d\xfc\x64\x7e\xf6\xc3", 10),
		/* add (%rdi),%eax; cmp %eax,(%rsi); jne 0; ret */
		LOOP("\x03\x07\x39\x06\x75\xfa\xc3", 6),
		/* add $1,%eax; cmp %ecx,%eax; jne 0; ret */
		LOOP("\x83\xc0\x01\x39\xc8\x75\xf9\xc3", 7),
		/* add $1,%rax; cmp 8(%rsp),%rax; jne 0; ret */
		LOOP("\x48\x83\xc0\x01\x48\x3b\x44\x24\x08\x75\xf5\xc3", 11),
		/* mov (%rdi),%eax; test %eax,%eax; jne 13; call 0; jmp 0; ret */
		LOOP("\x8b\x07\x85\xc0\x75\x07\xe8\xf5\xff\xff\xff\xeb\xf3\xc3", 13),
	};

	assert_looks(loops, sizeof(loops) / sizeof(loops[0]), false);
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

/* Without symbols the unwind table has the bounds of the function. */
static void a_stripped_file_has_bounds(void **state)
{
	static const char waiting[] =
#ifdef __aarch64__
		"#define PAUSE asm volatile(\"yield\")\n"
#else
		"#define PAUSE asm volatile(\"pause\")\n"
#endif
		"extern int flag;\n"
		"int flag;\n"
		"static __attribute__((noipa)) void wait(volatile int *at)\n"
		"{ while (!*at) PAUSE; }\n"
		"int main(void) { wait(&flag); return 0; }\n";
	const struct dso_function *all;
	struct setup *s = *state;
	const uint32_t *at;
	uint64_t start, size;
	unsigned spins = 0;

	fixture_write("spin.c", waiting);
	fixture_run("gcc -O2 -o spin spin.c && cp spin bare && strip bare");
	assert_int_equal(dso_find(get(s, "spin"), "wait", &at), 1);
	dso_functions(get(s, "spin"), &all);
	start = all[at[0]].address;
	size = all[at[0]].size;
	assert_null(dso_function_at(get(s, "bare"), start));
	for (uint64_t i = 0; i < size; i++) {
		bool here = spinloop_at(get(s, "spin"), start + i);

		assert_int_equal(spinloop_at(get(s, "bare"), start + i), here);
		spins += here;
	}
	assert_in_range(spins, 4, size - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nested_spin_x86), cmocka_unit_test(no_spin_x86),
		cmocka_unit_test(long_loops_work), cmocka_unit_test(looks_again_x86),
		cmocka_unit_test(works_x86),	   cmocka_unit_test(spin_arm64),
		TEST(a_stripped_file_has_bounds),
	};

	return unit_run(tests);
}
