/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where jumps can be patched into aarch64 functions that are written in assembly here, instruction
 * by instruction: each row says the sites of one, or why it has none. What is displaced, and how it
 * is written at another address, is compared byte by byte. clang assembles for any machine; the
 * code is then wrapped into an object of this one, whose header says that it is of the other.
 */
#include "elf_fixture.h"

#include <errno.h>
#include <stdbool.h>

#include "base/err.h"
#include "base/vec.h"
#include "probes/patch/layout_arm64.h"
#include "probes/patch/plan.h"
#include "probes/patch/relocate.h"
#include "symbol/dso/cache.h"
#include "symbol/dso/dso.h"
#include "symbol/dso/symbols.h"

struct row {
	const char *name, *code, *plan;
};

#define ROW_BYTES 128 /* between two functions */

/* A row: a function, its code, and its sites: of each its offset, the kind of exit, and by how much
 * the stack pointer differs from that at the entry. */
static const struct row rows[] = {
	{ "other", "mov w0, #3\n ret", "entry+0; +4 ret" },
	{ "stub", "adrp x16, #4096\n ldr x17, [x16, #8]\n add x16, x16, #8\n br x17",
	  "entry+0; +12 jump" },
	/* A switch, and its table in the same page. */
	{ "switch_inside",
	  "cmp w0, #2\n b.hi 9f\n adrp x1, 0\n add x1, x1, #(table - start)\n"
	  " ldrb w0, [x1, w0, uxtw]\n adr x1, 1f\n add x0, x1, w0, sxtb #2\n br x0\n"
	  " 1: mov w0, #1\n ret\n mov w0, #2\n ret\n 9: mov w0, #0\n ret",
	  "entry+0; +36 ret; +44 ret; +52 ret" },
	{ "table", ".byte 0, 2, 0, 2\n .word 0", "" },
	/* Where indirect calls arrive stays first. */
	{ "framed",
	  "stp x29, x30, [sp, #-32]!\n mov x29, sp\n bl other\n ldp x29, x30, [sp], #32\n ret",
	  "entry+0; +16 ret" },
	{ "lands", "bti c\n stp x29, x30, [sp, #-16]!\n ldp x29, x30, [sp], #16\n ret",
	  "entry+4; +12 ret" },
	{ "signs", "paciasp\n stp x29, x30, [sp, #-16]!\n ldp x29, x30, [sp], #16\n autiasp\n ret",
	  "entry+4; +16 ret" },
	{ "signs_too", "pacibsp\n stp x29, x30, [sp, #-16]!\n ldp x29, x30, [sp], #16\n retab",
	  "entry+4; +12 ret" },
	{ "lands_and_signs", "bti c\n paciasp\n str x30, [sp, #-16]!\n ldr x30, [sp], #16\n retaa",
	  "entry+4; +16 ret" },
	{ "loop_behind_landing", "bti c\n 1: subs x0, x0, #1\n b.ne 1b\n ret",
	  "begins with its own loop" },
	{ "loop_first", "1: subs x0, x0, #1\n b.ne 1b\n ret", "begins with its own loop" },
	/* One instruction for both. */
	{ "only_ret", "ret", "entry+0 ret" },
	{ "only_lands", "bti c\n ret", "entry+4 ret" },
	{ "thunk", "b other", "entry+0 jump" },
	{ "ends_in_a_stub", "sub x0, x0, #8\n b stub", "entry+0; +4 jump" },
	{ "virtual_call", "ldr x1, [x0]\n ldr x1, [x1, #16]\n mov x16, x1\n br x16",
	  "entry+0; +12 jump" },
	{ "authenticated_call", "ldr x1, [x0]\n braa x1, x0", "entry+0; +4 jump" },
	/* Conditions that leave. */
	{ "leaves_if_zero", "cbz x0, other\n ret", "entry+0 branch; +4 ret" },
	{ "leaves_if_bit", "mov x1, x0\n tbnz x0, #33, other\n ret", "entry+0; +4 branch; +8 ret" },
	{ "leaves_if_more", "cmp x0, #3\n b.hi other\n ret", "entry+0; +4 branch; +8 ret" },
	/* Instructions that cannot run at another address. */
	{ "call_first", "bl other\n ret", "begins with a call" },
	{ "indirect_call_first", "blr x0\n ret", "begins with a call" },
	{ "system_call_first", "svc #0\n ret",
	  "begins with an instruction that cannot run elsewhere" },
	{ "exclusive_first", "ldxr w1, [x0]\n add w1, w1, #1\n stxr w2, w1, [x0]\n ret",
	  "begins with an instruction that cannot run elsewhere" },
	{ "exclusive_inside",
	  "mov w3, #1\n 1: ldxr w1, [x0]\n cbz w1, 2f\n stxr w2, w3, [x0]\n cbnz w2, 1b\n 2: ret",
	  "entry+0; +20 ret" },
	{ "vector_literal_first", "ldr q0, 1f\n ret\n nop\n nop\n 1: .word 1, 2, 3, 4",
	  "begins with an instruction that cannot run elsewhere" },
	/* Data among the code. */
	{ "literals", "ldr x0, 1f\n ldr w1, 2f\n ret\n nop\n 1: .quad 0xd65f03c0\n 2: .word 5",
	  "has data among its code" },
	{ "data_behind", "mov x0, #1\n ret\n .word 0x12345678\n .word 0xd65f03c0",
	  "has data among its code" },
	{ "harmless_data", "ldr x0, 1f\n ret\n 1: .quad 0x0b0b0b0b0b0b0b0b", "entry+0; +4 ret" },
	{ "jump_over", "b 1f\n .word 0x12345678\n 1: ret", "entry+0; +8 ret" },
	/* Not every address that code computes is the base of a table. */
	{ "computes_goal", "adr x1, 1f\n add x1, x1, x0, lsl #3\n br x1\n 1: nop\n ret",
	  "may be left by an indirect jump" },
	{ "computes_goal_elsewhere", "adr x1, 1f\n sub x1, x1, x0\n br x1\n nop\n 1: nop\n ret",
	  "may be left by an indirect jump" },
	/* Other ways out and in. */
	{ "jumped_into", "mov w0, #3\n hidden_part: ret", "is entered in its middle, too" },
	{ "into_middle", "mov x0, #1\n b hidden_part",
	  "jumps into the middle of another function" },
	{ "keeps_its_stack", "sub sp, sp, #16\n b other",
	  "goes on with its stack in code that others use, too" },
	{ "called_inside", "mov x0, #1\n inner: ret", "is entered in its middle, too" },
	{ "calls_inside", "str x30, [sp, #-16]!\n bl inner\n ldr x30, [sp], #16\n ret",
	  "entry+0; +12 ret" },
	{ "_ZGVsMxv_sin", "mov x0, #0\n ret",
	  "is a vector function, whose registers a system call would change" },
	{ "setjmp", "mov x0, #0\n ret", "returns more than once for one call" },
};

#define N_ROWS (sizeof(rows) / sizeof(rows[0]))

/* ---- the object ---- */

struct object {
	struct dso_cache *cache;
	struct dso *dso;
	struct patch_plan *plan;
};

static void write_code(void)
{
	FILE *f = fopen(fixture_path("arm.s"), "w");

	assert_non_null(f);
	fputs(".arch armv8.3-a+pauth\n.text\nstart:\n", f);
	for (size_t i = 0; i < N_ROWS; i++)
		fprintf(f, ".p2align 7, 0\n%s:\n %s\n", rows[i].name, rows[i].code);
	fputs(".p2align 7, 0\n", f);
	fclose(f);
	fixture_run("clang --target=aarch64-linux-gnu -c -o arm.o arm.s &&"
		    " llvm-objcopy -O binary --only-section=.text arm.o arm.bin");
}

/* Bytes of a row's code, which zeros follow. */
static size_t code_bytes(FILE *f, size_t row)
{
	uint8_t code[ROW_BYTES];
	size_t n = sizeof(code);

	assert_int_equal(fseek(f, (long)(row * sizeof(code)), SEEK_SET), 0);
	assert_int_equal(fread(code, 1, sizeof(code), f), sizeof(code));
	while (n && !code[n - 1])
		n--;
	return (n + 3) / 4 * 4;
}

static void write_wrapper(void)
{
	FILE *code = fopen(fixture_path("arm.bin"), "r"), *f = fopen(fixture_path("wrap.s"), "w");

	assert_non_null(code);
	assert_non_null(f);
	fputs(".text\n.p2align 12\n", f);
	for (size_t i = 0; i < N_ROWS; i++) {
		const char *name = rows[i].name;

		fprintf(f,
			".globl %s\n.type %s, %s\n%s: .cfi_startproc\n .incbin \"arm.bin\", %zu, %d\n"
			".cfi_endproc\n.size %s, %zu\n",
			name, name, *rows[i].plan ? "@function" : "@object", name, i * ROW_BYTES,
			ROW_BYTES, name, code_bytes(code, i));
	}
	fclose(f);
	fclose(code);
}

static void open_object(struct object *o)
{
	static const uint8_t machine[] = { 183, 0 };
	struct err err = { 0 };
	FILE *f;

	write_code();
	write_wrapper();
	fixture_run("gcc -shared -nostdlib -Wl,--eh-frame-hdr -Wl,-Bsymbolic -o arm.so wrap.s");
	f = fopen(fixture_path("arm.so"), "r+");
	assert_non_null(f);
	assert_int_equal(fseek(f, 18, SEEK_SET), 0);
	assert_int_equal(fwrite(machine, 1, sizeof(machine), f), sizeof(machine));
	fclose(f);
	o->cache = dso_cache_new();
	assert_int_equal(dso_get(o->cache, fixture_path("arm.so"), &o->dso, &err), 0);
	o->plan = patch_plan_new(o->dso);
	assert_null(patch_plan_refusal(o->plan));
}

static void close_object(struct object *o)
{
	patch_plan_free(o->plan);
	dso_cache_free(o->cache);
}

static const struct patch_function *planned(const struct object *o, const char *name)
{
	const struct dso_function *functions;
	const uint32_t *found;

	assert_int_equal(dso_find(o->dso, name, &found), 1);
	dso_functions(o->dso, &functions);
	return patch_plan_function(o->plan, &functions[*found]);
}

/* ---- the rows ---- */

static size_t print_site(char *to, size_t n, const struct patch_site *s, uint64_t start)
{
	static const char *const exits[] = { "", " ret", " jump", " branch" };

	assert_int_equal(s->n_bytes, 4);
	assert_int_equal(s->n_code, 4);
	assert_int_equal(s->machine, CODE_AARCH64);
	assert_int_equal(s->sp_correction, 0);
	assert_false(s->island || s->flags_live || s->red_zone_live);
	return (size_t)snprintf(to, n, "%s+%d%s", s->is_entry ? "entry" : "; ",
				(int)(s->address - start), exits[s->exit]);
}

static void every_row(void **state)
{
	struct object o;

	(void)state;
	open_object(&o);
	for (size_t i = 0; i < N_ROWS; i++) {
		const struct patch_function *f;
		char text[512] = "";
		size_t at = 0;

		if (!*rows[i].plan)
			continue;
		f = planned(&o, rows[i].name);
		for (size_t k = 0; k < f->n_sites; k++)
			at += print_site(text + at, sizeof(text) - at, &f->sites[k],
					 f->function->address);
		if (strcmp(f->refusal ? f->refusal : text, rows[i].plan) != 0)
			fail_msg("%s: %s, not %s", rows[i].name, f->refusal ? f->refusal : text,
				 rows[i].plan);
	}
	assert_true(planned(&o, "thunk")->is_brief);
	assert_false(planned(&o, "framed")->is_brief);
	close_object(&o);
}

/* ---- other addresses ---- */

#define SITE 0x10000000ull
#define STUB 0x12345000ull /* 0x2345000 above */
#define FAR  0x40000000ull

struct moved {
	const char *what;
	uint32_t word;
	enum patch_exit exit;
	size_t entry_gap, exit_gap;
	uint32_t code[5]; /* up to a 0 */
	size_t exit_at;
};

/* b from STUB + at to SITE + to */
#define B(at, to) (0x14000000 | (((uint32_t)((SITE + (to)) - (STUB + (at)))) >> 2 & 0x3ffffff))

static const struct moved moves[] = {
	{ "mov x29, sp", 0x910003fd, PATCH_NO_EXIT, 0, 0, { 0x910003fd, B(4, 4) }, 8 },
	{ "the same behind a gap", 0x910003fd, PATCH_NO_EXIT, 40, 0, { 0x910003fd, B(44, 4) }, 8 },
	{ "ret", 0xd65f03c0, PATCH_RET, 40, 80, { 0xd65f03c0 }, 0 },
	{ "retaa", 0xd65f0bff, PATCH_RET, 0, 80, { 0xd65f0bff }, 0 },
	{ "br x16", 0xd61f0200, PATCH_JUMP, 0, 80, { 0xd61f0200 }, 0 },
	{ "b .+1024", 0x14000100, PATCH_JUMP, 0, 80, { B(80, 1024) }, 0 },
	{ "b .-8 inside", 0x17fffffe, PATCH_NO_EXIT, 0, 0, { B(0, -8) }, 4 },
	{ "b.ne .+64", 0x54000201, PATCH_NO_EXIT, 0, 0, { 0x54000040, B(4, 64), B(8, 4) }, 12 },
	{ "b.ne .+64 leaves",
	  0x54000201,
	  PATCH_BRANCH,
	  8,
	  80,
	  { 0x540002c0, B(92, 64), B(96, 4) },
	  4 },
	{ "cbz x5, .+64 leaves",
	  0xb4000205,
	  PATCH_BRANCH,
	  0,
	  80,
	  { 0xb50002c5, B(84, 64), B(88, 4) },
	  4 },
	{ "cbnz w5, .-64",
	  0x35fffe05,
	  PATCH_NO_EXIT,
	  0,
	  0,
	  { 0x34000045, B(4, -64), B(8, 4) },
	  12 },
	{ "tbnz x5, #33, .+64",
	  0xb7080205,
	  PATCH_NO_EXIT,
	  0,
	  0,
	  { 0xb6080045, B(4, 64), B(8, 4) },
	  12 },
};

static void check_move(const struct moved *m)
{
	struct patch_site site = {
		.machine = CODE_AARCH64, .exit = m->exit, .n_bytes = 4, .n_code = 4
	};
	struct patch_code code;
	size_t n = 0;

	memcpy(site.original, &m->word, 4);
	assert_int_equal(patch_relocate(&site, SITE, STUB, m->entry_gap, m->exit_gap, &code), 0);
	for (; n < 5 && m->code[n]; n++)
		if (n * 4 >= code.n || arm64_word(code.bytes + n * 4) != m->code[n])
			fail_msg("%s: %#x, not %#x", m->what, arm64_word(code.bytes + n * 4),
				 m->code[n]);
	assert_int_equal(code.n, n * 4);
	assert_int_equal(code.exit_at, m->exit_at);
}

static void every_move(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(moves) / sizeof(moves[0]); i++)
		check_move(&moves[i]);
}

static uint64_t page_of(uint32_t adrp, uint64_t at)
{
	return arm64_names(adrp, at);
}

/* adr, adrp and the literal loads, by what they leave in their register or read. */
static void names_stay(void **state)
{
	static const struct {
		uint32_t word, load; /* load: 0, or what reads the address */
		uint64_t names;
		bool is_page;
	} cases[] = {
		{ 0x30000023, 0, SITE + 5, false },	     /* adr x3, .+5 */
		{ 0x10ffffe3, 0, SITE - 4, false },	     /* adr x3, .-4 */
		{ 0xb0000003, 0, SITE + 0x1000, true },	     /* adrp x3, .+4096 */
		{ 0xf0ffffe3, 0, SITE - 0x1000, true },	     /* adrp x3, .-4096 */
		{ 0x58000043, 0xf9400063, SITE + 8, false }, /* ldr x3, .+8 */
		{ 0x18ffffe3, 0xb9400063, SITE - 4, false }, /* ldr w3, .-4 */
		{ 0x98000043, 0xb9800063, SITE + 8, false }, /* ldrsw x3, .+8 */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct patch_site site = { .machine = CODE_AARCH64, .n_bytes = 4, .n_code = 4 };
		struct patch_code code;
		uint32_t w[4] = { 0 };
		size_t n = 0;

		memcpy(site.original, &cases[i].word, 4);
		assert_int_equal(patch_relocate(&site, SITE, STUB, 0, 0, &code), 0);
		memcpy(w, code.bytes, code.n < sizeof(w) ? code.n : sizeof(w));
		assert_int_equal(w[n] & 0x9f00001f, 0x90000003);
		assert_int_equal(page_of(w[n++], STUB), cases[i].names & ~0xfffull);
		if (!cases[i].is_page)
			assert_int_equal(w[n++], 0x91000063 | (cases[i].names & 0xfff) << 10);
		if (cases[i].load)
			assert_int_equal(w[n++], cases[i].load);
		assert_int_equal(arm64_names(w[n], STUB + n * 4), SITE + 4);
		assert_int_equal(code.n, n * 4 + 4);
	}
}

static void reach(void **state)
{
	struct patch_site site = { .machine = CODE_AARCH64, .n_bytes = 4, .n_code = 4 };
	const uint32_t nop = 0xd503201f, call = 0x94000000;
	uint8_t bytes[PATCH_JUMP_BYTES];
	struct patch_code code;

	(void)state;
	memcpy(site.original, &nop, 4);
	assert_int_equal(patch_jump_bytes(&site), 4);
	assert_int_equal(patch_relocate(&site, SITE, FAR, 0, 0, &code), -ERANGE);
	assert_int_equal(patch_jump(CODE_AARCH64, SITE, FAR, bytes), -ERANGE);
	assert_int_equal(patch_jump(CODE_AARCH64, SITE, SITE + 0x8000000, bytes), -ERANGE);
	assert_int_equal(patch_jump(CODE_AARCH64, SITE, SITE + 0x7fffffc, bytes), 0);
	assert_int_equal(arm64_names(arm64_word(bytes), SITE), SITE + 0x7fffffc);
	assert_int_equal(patch_jump(CODE_AARCH64, SITE, SITE - 0x8000000, bytes), 0);
	assert_int_equal(arm64_names(arm64_word(bytes), SITE), SITE - 0x8000000);
	memcpy(site.original, &call, 4);
	assert_int_equal(patch_relocate(&site, SITE, STUB, 0, 0, &code), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row),
		cmocka_unit_test(every_move),
		cmocka_unit_test(names_stay),
		cmocka_unit_test(reach),
	};

	return unit_run(tests);
}
