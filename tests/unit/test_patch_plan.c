/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where jumps can be patched into functions that are written in assembly here, byte by byte: each
 * row says the sites of one, or why it has none. And the laws that every plan must keep, over the C
 * library of this machine.
 */
#include "elf_fixture.h"

#include <errno.h>
#include <stdbool.h>

#include "base/err.h"
#include "base/vec.h"
#include "probes/patch/layout_x86.h"
#include "probes/patch/plan.h"
#include "probes/patch/targets.h"
#include "symbol/dso/cache.h"
#include "symbol/dso/dso.h"
#include "symbol/dso/symbols.h"

#if defined(__x86_64__)

struct row {
	const char *name, *code, *plan;
};

#define AWAY	"other\n"
#define NO_ROOM ".byte 0x0f, 0x05\n" /* a system call is not displaced */

/*
 * Of a site: its offset, the bytes of its instructions and, behind a slash, those that the jump
 * covers; "short": by an island; what the stack pointer lacks there; how it is left.
 */
static const struct row rows[] = {
	/* Law 2: the first instruction stays. */
	{ "push_first",
	  "push %rbx\n mov %rdi, %rbx\n sub $16, %rsp\n call other\n"
	  " add $16, %rsp\n pop %rbx\n ret\n",
	  "entry+1 7/7 sp+8; +18 1/5 ret" },
	{ "endbr_first",
	  "endbr64\n push %rbp\n mov %rsp, %rbp\n inc %eax\n call other\n"
	  " pop %rbp\n ret\n .p2align 4\n",
	  "entry+4 6/6; +16 1/5 ret" },
	{ "long_first", "mov $0x12345678, %eax\n" NO_ROOM "ret\n .p2align 4\n",
	  "entry+0 5/5; +7 1/5 ret" },
	/* Tiny ones: one jump for both. */
	{ "only_ret", "ret\n .p2align 4\n", "entry+0 1/5 ret" },
	{ "returns_0", "xor %eax, %eax\n ret\n .p2align 4\n", "entry+2 1/5 ret" },
	{ "thunk", "jmp " AWAY, "entry+0 5/5 jump" },
	{ "adjusting_thunk", "sub $8, %rdi\n jmp " AWAY, "entry+4 5/5 jump" },
	{ "virtual_call", "mov (%rdi), %rax\n jmp *16(%rax)\n .p2align 4\n", "entry+3 3/5 jump" },
	{ "ends_in_a_stub",
	  "push %rbx\n mov %rdi, %rbx\n sub $16, %rsp\n call stub_1\n"
	  " add $16, %rsp\n pop %rbx\n jmp stub_2\n",
	  "entry+1 7/7 sp+8; +18 5/5 jump" },
	/* Conditions that leave. */
	{ "leaves_perhaps",
	  "push %rbx\n pop %rbx\n test %edi, %edi\n je " AWAY " mov $7, %eax\n ret\n .p2align 4\n",
	  "entry+1 9/9 sp+8 branch; +10 6/6 ret" },
	{ "goes_back",
	  "test %rdi, %rdi\n je 1f\n mov $7, %eax\n call other\n"
	  " 1: mov $1, %eax\n ret\n .p2align 4\n",
	  "entry+0 3/3 short; +20 1/5 ret" },
	/* Branches lead to instructions that would be displaced. */
	{ "loop_behind_first",
	  "xor %eax, %eax\n 1: inc %eax\n cmp %edi, %eax\n jne 1b\n ret\n .p2align 4\n",
	  "entry+0 2/2 short; +8 1/5 ret" },
	{ "loop_first", "1: inc %eax\n cmp %edi, %eax\n jne 1b\n ret\n .p2align 4\n",
	  "begins with its own loop" },
	{ "ret_is_target",
	  "mov %rdi, %rax\n test %rsi, %rsi\n je 1f\n call other\n 1: ret\n .p2align 4\n",
	  "entry+3 5/5; +13 1/2 short ret" },
	{ "no_padding",
	  "mov %rdi, %rax\n test %rsi, %rsi\n je 1f\n call other\n xor %eax, %eax\n"
	  " 1: ret\n",
	  "has an exit where no jump fits" },
	{ "padding_is_used", "nop\n mov %rdi, %rax\n mov %rax, %rcx\n ret\n .p2align 4\n",
	  "entry+1 6/6; +7 1/5 ret" },
	/* What is not displaced. */
	{ "call_first", "call other\n ret\n .p2align 4\n", "begins with a call" },
	{ "call_second", "push %rbx\n call other\n pop %rbx\n ret\n .p2align 4\n",
	  "has no room for a jump at its entry" },
	{ "counts_down", "jrcxz 1f\n mov $5, %eax\n 1: ret\n .p2align 4\n",
	  "has no room for a jump at its entry" },
	/* The red zone and the flags. */
	{ "red_zone", "mov %rdi, -8(%rsp)\n 1: lock incl (%rdi)\n jne 1b\n ret\n .p2align 4\n",
	  "entry+0 5/5; +10 1/5 ret" },
	{ "carry", "add %rdi, %rsi\n adc $0, %edx\n mov %rdx, %rax\n ret\n .p2align 4\n",
	  "entry+6 4/5 ret" },
	/* Other ways out. */
	{ "switch_inside",
	  "cmp $2, %edi\n ja 1f\n lea table(%rip), %rdx\n movslq (%rdx,%rdi,4), %rax\n"
	  " add %rdx, %rax\n jmp *%rax\n case0: nop\n ret\n case1: mov $1, %eax\n ret\n"
	  " 1: xor %eax, %eax\n ret\n .p2align 4\n",
	  "entry+0 3/3 short; +21 2/2 short ret; +23 6/6 ret; +29 3/3 short ret" },
	{ "into_middle",
	  "push %rbx\n mov %rdi, %rbx\n mov %rbx, %rax\n pop %rbx\n jmp hidden_part\n",
	  "jumps into the middle of another function" },
	{ "returns_elsewhere", "mov %rdi, %rax\n push %rax\n nop\n nop\n ret\n .p2align 4\n",
	  "returns to what it has put on the stack" },
	{ "entered_inside",
	  "mov %rdi, %rax\n .type second, @function\n second: mov %rax, %rcx\n mov %rcx, %rax\n ret\n",
	  "is entered in its middle, too" },
	{ "in_signal",
	  ".cfi_signal_frame\n mov %rdi, %rax\n mov %rax, %rcx\n mov %rcx, %rax\n ret\n",
	  "returns from a signal handler" },
	{ "lands",
	  ".cfi_lsda 0x1b, lsda1\n mov %rdi, %rax\n mov %rax, %rcx\n mov %rcx, %rax\n ret\n",
	  "entry+3 3/3 short; +9 1/5 ret" },
	{ "lands_anywhere",
	  ".cfi_lsda 0x1b, lsda2\n mov %rdi, %rax\n mov %rax, %rcx\n mov %rcx, %rax\n ret\n",
	  "has a table of where exceptions land that ispot cannot read" },
	{ "__syscall_cancel_arch", "mov %rdi, %rax\n mov %rax, %rcx\n mov %rcx, %rax\n ret\n",
	  "is looked for by its address when a signal comes" },
	{ "sem_wait", "mov %rdi, %rax\n mov %rax, %rcx\n mov %rcx, %rax\n jmp other\n",
	  "waits in a function that it jumps to, so that its end would be seen too early" },
	{ "sem_timedwait",
	  "mov %rdi, %rax\n mov %rax, %rcx\n mov %rcx, %rax\n mov %rax, %rcx\n ret\n",
	  "entry+3 6/6; +9 4/5 ret" },
	{ "vfork", "mov %rdi, %rax\n mov %rax, %rcx\n mov %rcx, %rax\n ret\n",
	  "returns more than once for one call" },
};

/* Two tables of landing pads: one leads into `lands`, the other cannot be read. */
static const char landings[] = ".section .gcc_except_table, \"a\"\n"
			       " lsda1: .byte 0xff, 0xff, 1, 4\n .uleb128 0, 9, 6, 0\n"
			       " lsda2: .byte 0xff, 0xff, 0x55, 4, 0, 9, 6, 0\n";

/* A procedure linkage table, with one frame for its stubs. */
static const char linkage[] =
	".text\n .p2align 4\n .cfi_startproc\n stub_0: push slots(%rip)\n jmp *slots(%rip)\n .p2align 4\n"
	" stub_1: jmp *slots(%rip)\n push $0\n jmp stub_0\n .p2align 4\n"
	" stub_2: jmp *slots(%rip)\n push $1\n jmp stub_0\n .p2align 4\n .cfi_endproc\n"
	" .data\n slots: .quad 0\n";

static const char tables[] =
	".section .rodata\n .p2align 3\n table: .long case0 - table, case1 - table, case0 - table\n";

/* ---- the rows ---- */

struct object {
	struct dso_cache *cache;
	struct dso *dso;
	struct patch_plan *plan;
};

static void open_object(struct object *o, const char *path)
{
	struct err err = { 0 };

	o->cache = dso_cache_new();
	assert_int_equal(dso_get(o->cache, path, &o->dso, &err), 0);
	o->plan = patch_plan_new(o->dso);
}

static void close_object(struct object *o)
{
	patch_plan_free(o->plan);
	dso_cache_free(o->cache);
}

static void write_rows(void)
{
	FILE *f = fopen(fixture_path("rows.s"), "w");

	assert_non_null(f);
	fprintf(f,
		".text\n .globl other\n .type other, @function\n other: mov $3, %%eax\n hidden_part: ret\n .size other, . - other\n");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		fprintf(f,
			".text\n .p2align 4\n .globl %s\n .hidden %s\n .type %s, @function\n %s: .cfi_startproc\n %s\n"
			".cfi_endproc\n .size %s, . - %s\n",
			rows[i].name, rows[i].name, rows[i].name, rows[i].name, rows[i].code,
			rows[i].name, rows[i].name);
	fputs(tables, f);
	fputs(landings, f);
	fputs(linkage, f);
	fclose(f);
	fixture_run("gcc -shared -nostdlib -Wl,--eh-frame-hdr -Wl,-Bsymbolic -o rows.so rows.s");
}

static size_t print_site(char *to, size_t n, const struct patch_site *s, uint64_t start)
{
	static const char *const exits[] = { "", " ret", " jump", " branch" };
	char sp[16] = "";

	if (s->sp_correction)
		snprintf(sp, sizeof(sp), " sp+%d", s->sp_correction);
	return (size_t)snprintf(to, n, "%s+%d %u/%u%s%s%s%s%s", s->is_entry ? "entry" : "; ",
				(int)(s->address - start), s->n_code, s->n_bytes,
				s->island ? " short" : "", sp, s->flags_live ? " flags" : "",
				s->red_zone_live ? " redzone" : "", exits[s->exit]);
}

static void every_row(void **state)
{
	struct object o;

	(void)state;
	write_rows();
	open_object(&o, fixture_path("rows.so"));
	assert_null(patch_plan_refusal(o.plan));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct dso_function *functions;
		const struct patch_function *f;
		const uint32_t *found;
		char text[512] = "";
		size_t at = 0;

		assert_int_equal(dso_find(o.dso, rows[i].name, &found), 1);
		dso_functions(o.dso, &functions);
		f = patch_plan_function(o.plan, &functions[*found]);
		for (size_t k = 0; k < f->n_sites; k++)
			at += print_site(text + at, sizeof(text) - at, &f->sites[k],
					 f->function->address);
		if (strcmp(f->refusal ? f->refusal : text, rows[i].plan) != 0)
			fail_msg("%s: %s, not %s", rows[i].name, f->refusal ? f->refusal : text,
				 rows[i].plan);
		// A
	}
	close_object(&o);
}

/* Calls that take no longer than their records: no loop, call, system call or atomic operation. */
static void brief(void **state)
{
	static const struct {
		const char *name;
		bool is_brief;
	} functions[] = {
		{ "returns_0", true },	     { "virtual_call", true },
		{ "padding_is_used", true }, { "push_first", false },
		{ "long_first", false },     { "loop_behind_first", false },
		{ "switch_inside", false },  { "red_zone", false },
	};
	const struct dso_function *all;
	struct object o;

	(void)state;
	write_rows();
	open_object(&o, fixture_path("rows.so"));
	dso_functions(o.dso, &all);
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		const uint32_t *found;

		assert_int_equal(dso_find(o.dso, functions[i].name, &found), 1);
		if (patch_plan_function(o.plan, &all[*found])->is_brief != functions[i].is_brief)
			fail_msg("%s", functions[i].name);
	}
	close_object(&o);
}

/* No instruction of a section that the kernel restarts may run elsewhere. */
static void restartable(void **state)
{
	struct object o;

	(void)state;
	fixture_write("restarted.s",
		      ".text\n .globl f\n .type f, @function\n f: push %rbx\n pop %rbx\n"
		      " mov $7, %eax\n ret\n .size f, . - f\n"
		      ".section __rseq_cs, \"a\"\n .quad 0, 0, 0, 0\n");
	fixture_run("gcc -shared -nostdlib -o restarted.so restarted.s");
	open_object(&o, fixture_path("restarted.so"));
	assert_non_null(strstr(patch_plan_refusal(o.plan), "rseq"));
	close_object(&o);
}

/* ---- what holds for every plan ---- */

static void take(uint8_t *taken, const struct targets *t, uint64_t address, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t at = (size_t)(targets_marks(t, address + i) - t->marks);

		assert_int_equal(taken[at], 0);
		taken[at] = 1;
	}
}

static void keeps_the_laws(const struct targets *t, const struct patch_site *s, uint8_t *taken)
{
	struct layout l;

	take(taken, t, s->address, s->n_bytes);
	if (s->island)
		take(taken, t, s->island, PATCH_JUMP_BYTES);
	for (size_t i = 1; i < s->n_bytes; i++)
		assert_int_equal(*targets_marks(t, s->address + i) & MARK_ANY_TARGET, 0);
	for (size_t at = 0; at < s->n_code; at += l.length) {
		assert_true(layout_read(s->original + at, s->n_code - at, &l));
		assert_true(layout_can_move(&l));
		assert_true(!s->is_entry || s->entry_offset || at == 0 || s->exit != PATCH_NO_EXIT);
	}
	assert_true(s->address % 4096 + (s->island ? PATCH_SHORT_BYTES : PATCH_JUMP_BYTES) <= 4096);
	assert_true(s->island % 4096 + PATCH_JUMP_BYTES <= 4096);
	assert_true(s->n_bytes >= (s->island ? PATCH_SHORT_BYTES : PATCH_JUMP_BYTES));
	assert_true(s->n_bytes <= PATCH_BYTES_MAX);
}

static void the_c_library(void **state)
{
	const struct dso_function *functions;
	struct targets t = { 0 };
	struct object o;
	size_t n, possible = 0, all = 0;
	uint8_t *taken;

	(void)state;
	if (access("/lib/x86_64-linux-gnu/libc.so.6", R_OK))
		skip();
	open_object(&o, "/lib/x86_64-linux-gnu/libc.so.6");
	assert_null(targets_read(&t, o.dso));
	taken = calloc(1, vec_last(&t.code)->first +
				  (vec_last(&t.code)->end - vec_last(&t.code)->start));
	n = dso_functions(o.dso, &functions);
	for (size_t i = 0; i < n; i++) {
		const struct patch_function *f = patch_plan_function(o.plan, &functions[i]);

		if (f->function != &functions[i])
			continue; /* an alias */
		all++;
		if (f->refusal)
			continue;
		possible++;
		assert_true(f->sites[0].is_entry);
		for (size_t k = 0; k < f->n_sites; k++)
			keeps_the_laws(&t, &f->sites[k], taken);
	}
	assert_true(possible * 100 >= all * 85);
	free(taken);
	targets_release(&t);
	close_object(&o);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
#if defined(__x86_64__)
		cmocka_unit_test(every_row),
		cmocka_unit_test(brief),
		cmocka_unit_test(restartable),
		cmocka_unit_test(the_c_library),
#endif
	};

	return unit_run(tests);
}
