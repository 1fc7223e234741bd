// SPDX-License-Identifier: GPL-3.0-or-later
/* Where x86-64 functions are left: every ret and tail jump, or why not all of them are known. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "probes/place/placement.h"

#define ADDRESS 0x401000

#define NOP	 "\x90"
#define PUSH	 "\x53" /* push %rbx */
#define POP	 "\x5b"
#define RET	 "\xc3"
#define JMP_AWAY "\xe9\x00\x10\x00\x00"
#define JE_AWAY	 "\x0f\x84\x00\x10\x00\x00"
#define SUB	 "\x48\x83\xec\x18"
#define ADD	 "\x48\x83\xc4\x18"
#define FRAME	 "\x55\x48\x89\xe5" /* push %rbp; mov %rsp, %rbp */
#define LEAVE	 "\xc9"
#define CMP_JA	 "\x83\xff\x05\x77\x02" /* cmp $5, %edi; ja .+4 */
#define TABLE_PIC \
	"\x48\x63\x04\xba\x48\x01\xd0\xff\xe0"	   /* movslq (%rdx,%rdi,4), %rax; add; jmp *%rax */
#define TABLE_8	    "\xff\x24\xfd\x00\x20\x40\x00" /* jmp *0x402000(,%rdi,8) */
#define VTABLE	    "\x48\x8b\x07\xff\x60\x10"	   /* mov (%rdi), %rax; jmp *0x10(%rax) */
#define JMP_RAX	    "\xff\xe0"
#define NOTRACK_RAX "\x3e\xff\xe0"
#define MAX	    4

struct row {
	const char *what, *code;
	size_t size;
	bool incomplete, jumps; /* only direct ones leave it */
	uint32_t n;
	int64_t sites[MAX];
};

#define CODE(s)		  .code = (s), .size = sizeof(s) - 1
#define SITES(count, ...) .n = (count), .sites = { __VA_ARGS__ }

static const struct row rows[] = {
	{ "ret", CODE(NOP RET), SITES(1, 1) },
	{ "every ret", CODE("\x85\xff\x75\x01" RET NOP RET), SITES(2, 4, 6) },
	{ "rep ret", CODE("\xf3\xc3"), SITES(1, 0) },
	{ "bnd ret", CODE("\xf2\xc3"), SITES(1, 0) },
	{ "ret that pops arguments", CODE("\xc2\x08\x00"), SITES(1, 0) },
	{ "tail jump", CODE(NOP JMP_AWAY), SITES(1, 1), .jumps = true },
	{ "tail jump behind a popped frame", CODE(PUSH POP JMP_AWAY), SITES(1, 2), .jumps = true },
	{ "behind sub and add", CODE(SUB NOP ADD JMP_AWAY), SITES(1, 9), .jumps = true },
	{ "behind leave", CODE(FRAME SUB LEAVE JMP_AWAY), SITES(1, 9), .jumps = true },
	{ "behind lea from the frame", CODE(FRAME SUB "\x48\x8d\x65\x00\x5d" JMP_AWAY),
	  SITES(1, 13), .jumps = true },
	{ "behind a realigned frame",
	  CODE("\x4c\x8d\x54\x24\x08\x48\x83\xe4\xe0"
	       "\x49\x8d\x62\xf8" JMP_AWAY),
	  SITES(1, 13), .jumps = true },
	{ "jump with a frame goes on elsewhere", CODE(PUSH JMP_AWAY POP RET), SITES(1, 7),
	  .incomplete = true },
	{ "after an unknown stack", CODE("\x48\x83\xe4\xe0" JMP_AWAY), .incomplete = true },
	{ "conditional tail jump", CODE(NOP JE_AWAY RET), SITES(1, 7), .incomplete = true },
	{ "conditional jump inside", CODE("\x74\x00" RET), SITES(1, 2) },
	{ "jump back inside", CODE(NOP NOP "\xeb\xfd") },
	{ "switch with relative entries", CODE(TABLE_PIC RET), SITES(1, 9) },
	{ "switch with entries, bounded", CODE(CMP_JA TABLE_8 RET), SITES(1, 12) },
	{ "table of functions", CODE(NOP TABLE_8 RET), SITES(1, 8), .incomplete = true },
	{ "switch inside a frame", CODE(PUSH TABLE_8 POP RET), SITES(1, 9) },
	{ "notrack", CODE(NOP NOTRACK_RAX RET), SITES(1, 4) },
	{ "tail call through a vtable", CODE(VTABLE), SITES(1, 3) },
	{ "through a loaded pointer", CODE("\x48\x8b\x47\x08" JMP_RAX), SITES(1, 4) },
	{ "through an argument", CODE("\x48\x89\xf8" JMP_RAX), SITES(1, 3) },
	{ "an offset read into another register", CODE("\x48\x63\x14\xbe\x48\x89\xf8" JMP_RAX),
	  .incomplete = true },
	{ "a value read into another register", CODE("\x8b\x14\xbe\x48\x89\xf8" JMP_RAX),
	  SITES(1, 6) },
	{ "a pointer kept across a call", CODE("\x48\x8b\x14\xfe\xe8\x00\x10\x00\x00" JMP_RAX),
	  SITES(1, 9) },
	{ "a pointer loaded blocks before", /* mov (%rdi), %rax; je 1f; mov (%rsi,%rdi,8), %rdx;
					       ret; 1: */
	  CODE("\x48\x8b\x07\x74\x05\x48\x8b\x14\xfe\xc3" JMP_RAX), SITES(2, 9, 10) },
	{ "a table entry loaded blocks before", /* movslq (%rsi,%rdi,4), %rax; je 1f; nop; ret; 1:
						 */
	  CODE("\x48\x63\x04\xbe\x74\x02\x90\xc3" JMP_RAX), SITES(1, 7) },
	{ "a block that only a table reaches", CODE("\x48\x63\x04\xbe\xc3" JMP_RAX), SITES(1, 4),
	  .incomplete = true },
	{ "a table entry loaded before a ret", /* mov (%rdi), %rax; je 1f; movslq
						  (%rsi,%rdi,4), %rax; ret; 1: jmp *%rax */
	  CODE("\x48\x8b\x07\x74\x05\x48\x63\x04\xbe" RET JMP_RAX), SITES(2, 9, 10) },
	{ "a call is not followed as a jump", CODE("\xe8\x00\x10\x00\x00" RET), SITES(1, 5) },
	{ "no ret at all", CODE(PUSH "\xe8\x00\x10\x00\x00") },
	{ "what follows a call that never returns",
	  CODE("\x74\x07" PUSH "\xe8\x00\x10\x00\x00"
	       "\x90" JMP_AWAY),
	  SITES(1, 9), .jumps = true },
	{ "a ret beside a tail jump", CODE("\x74\x01" RET JMP_AWAY), SITES(2, 2, 3) },
	{ "bytes that are no instruction", CODE(NOP RET "\x06\x06"), SITES(1, 1),
	  .incomplete = true },
};

static void check_row(const struct row *row, const struct placement *p)
{
	if (!p->possible || p->n_ret_sites != row->n || p->ret_sites_complete == row->incomplete)
		fail_msg("%s: %u exits, %s", row->what, p->n_ret_sites,
			 p->ret_sites_complete ? "complete" : p->ret_sites_reason);
	if (p->only_jumps != row->jumps)
		fail_msg("%s: %s by jumps", row->what, p->only_jumps ? "only" : "not only");
	for (uint32_t i = 0; i < row->n; i++)
		if (p->ret_sites[i] != row->sites[i])
			fail_msg("%s: exit %u at +%d", row->what, i, (int)p->ret_sites[i]);
	assert_int_equal(row->incomplete, p->ret_sites_reason[0] != 0);
}

static void rules_hold(void **state)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct code_input in = { .machine = CODE_X86_64,
					 .code = (const uint8_t *)rows[i].code,
					 .size_bytes = rows[i].size,
					 .address = ADDRESS,
					 .nop5_optimised = true };
		struct placement out;

		placement_find(&in, &out);
		check_row(&rows[i], &out);
	}
}

/* A return probe puts the kernel's address where the function looks. */
static void looking_at_the_caller(void **state)
{
	static const struct {
		const char *what, *code;
		size_t size;
		bool looks;
	} cases[] = {
		{ "mov (%rsp), %rax", CODE("\x48\x8b\x04\x24" RET), true },
		{ "an argument on the stack", CODE("\x48\x8b\x44\x24\x08" RET), false },
		{ "mov 0x18(%rsp), %rax", CODE(SUB "\x48\x8b\x44\x24\x18" ADD RET), true },
		{ "mov 8(%rsp), %rax", CODE(SUB "\x48\x8b\x44\x24\x08" ADD RET), false },
		{ "mov 8(%rbp), %rax", CODE(FRAME "\x48\x8b\x45\x08" LEAVE RET), true },
		{ "mov -8(%rbp), %rax", CODE(FRAME "\x48\x8b\x45\xf8" LEAVE RET), false },
		{ "mov 8(%rbp), %rax, no frame", CODE("\x48\x8b\x45\x08" RET), false },
		{ "cmp %rax, (%rsp)", CODE("\x48\x39\x04\x24" RET), true },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct code_input in = { .machine = CODE_X86_64,
					 .code = (const uint8_t *)cases[i].code,
					 .size_bytes = cases[i].size,
					 .address = ADDRESS };
		struct placement out;

		placement_find(&in, &out);
		if (out.reads_caller != cases[i].looks)
			fail_msg("%s: %d", cases[i].what, out.reads_caller);
	}
}

/* push; je cold; pop; ret … and below it: cold: pop; ret */
static void a_part_elsewhere_is_followed_when_given(void **state)
{
	static const char main_code[] = PUSH "\x0f\x84\xf9\xef\xff\xff" POP RET;
	static const char cold_code[] = POP RET;
	struct code_part cold = { (const uint8_t *)cold_code, 2, ADDRESS - 0x1000 };
	struct code_input in = { .machine = CODE_X86_64,
				 .code = (const uint8_t *)main_code,
				 .size_bytes = sizeof(main_code) - 1,
				 .address = ADDRESS };
	struct placement out;

	placement_find(&in, &out);
	assert_false(out.ret_sites_complete);
	assert_int_equal(out.continues_at, cold.address);
	in.parts = &cold;
	in.n_parts = 1;
	placement_find(&in, &out);
	assert_true(out.ret_sites_complete);
	assert_int_equal(out.continues_at, 0);
	assert_int_equal(out.n_ret_sites, 2);
	assert_int_equal(out.ret_sites[0], 8);
	assert_int_equal(out.ret_sites[1], -0x1000 + 1);
}

static void more_exits_than_fit_are_incomplete(void **state)
{
	uint8_t code[PLACEMENT_RET_SITES_MAX + 1];
	struct code_input in = { .machine = CODE_X86_64, .code = code, .address = ADDRESS };
	struct placement out;

	memset(code, 0xc3, sizeof(code));
	in.size_bytes = PLACEMENT_RET_SITES_MAX;
	placement_find(&in, &out);
	assert_true(out.ret_sites_complete);
	in.size_bytes++;
	placement_find(&in, &out);
	assert_false(out.ret_sites_complete);
	assert_int_equal(out.n_ret_sites, PLACEMENT_RET_SITES_MAX);
}

/* Symbol sizes come from files: any bytes of any length must give an answer. */
static void noise_is_survived(void **state)
{
	uint8_t code[512];
	uint32_t seed = 12345;

	for (int round = 0; round < 2000; round++) {
		struct code_input in = { .machine = round % 2 ? CODE_X86_64 : CODE_AARCH64,
					 .code = code };
		struct placement out;

		for (size_t i = 0; i < sizeof(code); i++) {
			seed = seed * 1664525 + 1013904223;
			code[i] = (uint8_t)(seed >> 24);
		}
		in.size_bytes = seed % sizeof(code);
		in.address = round % 3 ? ADDRESS : UINT64_MAX - 100;
		placement_find(&in, &out);
		assert_true(out.n_ret_sites <= PLACEMENT_RET_SITES_MAX);
		if (out.possible)
			assert_true(out.entry_offset < in.size_bytes && out.class < CLASS_N);
		else
			assert_string_not_equal(out.reason, "");
	}
}

/* A symbol of megabytes is read in part and says so. */
static void huge_symbols_are_cut(void **state)
{
	size_t n = (1u << 20) + 16;
	uint8_t *code = xmalloc(n);
	struct code_input in = {
		.machine = CODE_X86_64, .code = code, .size_bytes = n, .address = ADDRESS
	};
	struct placement out;

	memset(code, 0x90, n);
	placement_find(&in, &out);
	assert_true(out.possible);
	assert_false(out.ret_sites_complete);
	free(code);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_hold),
		cmocka_unit_test(a_part_elsewhere_is_followed_when_given),
		cmocka_unit_test(more_exits_than_fit_are_incomplete),
		cmocka_unit_test(looking_at_the_caller),
		cmocka_unit_test(noise_is_survived),
		cmocka_unit_test(huge_symbols_are_cut),
	};

	return cmocka_run_group_tests_name("ret_sites", tests, NULL, NULL);
}
