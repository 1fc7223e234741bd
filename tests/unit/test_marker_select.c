/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "elf_fixture.h"

#include <linux/version.h>

#include "base/err.h"
#include "probes/place/operand.h"
#include "probes/place/plan.h"
#include "probes/select/marker.h"
#include "probes/select/missing.h"
#include "probes/select/pattern.h"
#include "probes/select/select.h"
#include "symbol/dso/cache.h"
#include "symbol/dso/dso.h"

static const char source[] =
	"#include \"probes/ispot.h\"\n"
	"#define NOTE(p, name, nop, args) __asm__ volatile(\"990: \" nop \"\\n"
	".pushsection .note.stapsdt,\\\"?\\\",\\\"note\\\"\\n.balign 4\\n"
	".4byte 992f-991f, 994f-993f, 3\\n991: .asciz \\\"stapsdt\\\"\\n992: .balign 4\\n"
	"993: .8byte 990b, _.stapsdt.base, 0\\n.asciz \\\"\" p \"\\\", \\\"\" name \"\\\", \\\"\" args \"\\\"\\n"
	"994: .balign 4\\n.popsection\")\n"
	"int f(int x) { ISPOT_BEGIN(parse, x); if (x) { ISPOT_END(parse); return 1; } ISPOT_END(parse); return 0; }\n"
	"int g(int x) { ISPOT_BEGIN(scan, x); ISPOT_END(scan); return x; }\n"
	"void l(void) { for (int i = 0; i < 9; i++) { ISPOT_LOOP_BEGIN(loop, 250); ISPOT_LOOP_END(loop); } }\n"
	"void ends(void) { ISPOT_END(only_ends); }\n"
	"void begins(void) { ISPOT_BEGIN(only_begins); }\n"
	"void usdt(void) { NOTE(\"db\", \"q__start\", \"nop\", \"\"); NOTE(\"db\", \"q__done\", \"nop\", \"\");\n"
	" NOTE(\"db\", \"r__start\", \"nop\", \"\"); NOTE(\"db\", \"r__done\", \"nop\", \"\");\n"
	" NOTE(\"db\", \"r__failed\", \"nop\", \"\"); NOTE(\"db\", \"alone\", \"nop\", \"\");\n"
	" NOTE(\"db\", \"five\", \".byte 0x0f, 0x1f, 0x44, 0, 0\", \"\");\n"
	" NOTE(\"db\", \"args\", \"nop\", \"-4@$5 2@16(%rsp)\");\n"
	" NOTE(\"db\", \"none\", \"push %rax; pop %rax\", \"\"); }\n"
	"int main(int c, char **v) { (void)v; l(); ends(); begins(); usdt(); return f(c) + g(c); }\n";

struct setup {
	struct dso_cache *cache;
	struct dso *dso;
	struct patterns *patterns;
	struct selection selection;
	struct err err;
};

static int set_up(void **state)
{
	struct setup *s = calloc(1, sizeof(*s));
	char command[1200], root[1024];

	if (!getcwd(root, sizeof(root)))
		return -1;
	fixture_write("marked.c", source);
	snprintf(command, sizeof(command), "gcc -O1 -I'%s' -o marked marked.c", root);
	fixture_run(command);
	s->cache = dso_cache_new();
	assert_int_equal(dso_get(s->cache, fixture_path("marked"), &s->dso, &s->err), 0);
	*state = s;
	return 0;
}

static void reset(struct setup *s)
{
	selection_release(&s->selection);
	patterns_free(s->patterns);
	s->patterns = NULL;
	s->err = (struct err){ 0 };
}

static int tear_down(void **state)
{
	struct setup *s = *state;

	reset(s);
	dso_cache_free(s->cache);
	free(s);
	return 0;
}

static int by_name(const void *a, const void *b)
{
	const struct selected *x = a, *y = b;

	return strcmp(x->function->name, y->function->name);
}

/* Names and numbers of begins and ends chosen: "parse 1/2 …", sorted by name. */
static const char *chosen(struct setup *s, const char *first, const char *second)
{
	const char *words[] = { first, second };
	static char out[2048];

	reset(s);
	out[0] = '\0';
	assert_int_equal(patterns_parse(&s->patterns, words, second ? 2 : 1, &s->err), 0);
	assert_int_equal(selection_add(&s->selection, s->patterns, &s->dso, 1, 1, &s->err), 0);
	vec_sort(&s->selection.chosen, by_name);
	vec_for_each (&s->selection.chosen, struct selected, c) {
		assert_non_null(c->marker);
		snprintf(out + strlen(out), sizeof(out) - strlen(out), "%s%s %zu/%zu",
			 *out ? ", " : "", c->function->name, c->marker->begins.n,
			 c->marker->ends.n);
	}
	return out;
}

/* The sentence for a pattern that matches nothing. */
static const char *missing(struct setup *s, const char *word)
{
	const char *words[] = { word };

	reset(s);
	if (!patterns_parse(&s->patterns, words, 1, &s->err)) {
		selection_add(&s->selection, s->patterns, &s->dso, 1, 1, &s->err);
		assert_int_not_equal(
			selection_missing(&s->selection, s->patterns, &s->dso, 1, &s->err), 0);
	}
	return s->err.text;
}

static void markers_are_chosen_by_name(void **state)
{
	struct setup *s = *state;
	const char *word = "!marker:parse";
	struct patterns *excluding;

	assert_string_equal(chosen(s, "marker:parse", NULL), "parse 1/2");
	assert_string_equal(chosen(s, "marker:parse", "marker:p*"), "parse 1/2");
	assert_string_equal(chosen(s, "marker:*", NULL),
			    "loop 1/1, only_begins 1/0, parse 1/2, scan 1/1");
	assert_string_equal(chosen(s, "marker:/^(parse|scan)$/", "!marker:scan"), "parse 1/2");
	assert_int_equal(patterns_parse(&excluding, &word, 1, NULL), 0);
	s->selection.excluding = excluding;
	assert_string_equal(chosen(s, "marker:*", NULL), "loop 1/1, only_begins 1/0, scan 1/1");
	s->selection.excluding = NULL;
	patterns_free(excluding);
	chosen(s, "marker:loop", NULL);
	assert_int_equal(s->selection.chosen.data[0].marker->period, 250);
	assert_string_equal(s->selection.chosen.data[0].function->symbol, "marker:loop");
}

static void usdt_probes_make_pairs(void **state)
{
	struct setup *s = *state;

	assert_string_equal(chosen(s, "usdt:db:q__start..q__done", NULL),
			    "db:q__start..q__done 1/1");
	assert_string_equal(chosen(s, "usdt:d*:*__start..*__done", NULL),
			    "db:q__start..q__done 1/1, db:r__start..r__done 1/1");
	assert_string_equal(chosen(s, "usdt:db:r__start..r__done|r__failed", NULL),
			    "db:r__start..r__done|r__failed 1/2");
	assert_string_equal(chosen(s, "usdt:db:r__start..r__done", "usdt:db:r__start..r__failed"),
			    "db:r__start..r__done 1/1, db:r__start..r__failed 1/1");
	assert_string_equal(chosen(s, "usdt:db:alone", NULL), "db:alone 1/0");
	assert_string_equal(chosen(s, "usdt:db:*__start..*__done", "!usdt:db:q*"),
			    "db:r__start..r__done 1/1");
}

static void what_is_not_there_is_named(void **state)
{
	struct setup *s = *state;

	assert_non_null(strstr(missing(s, "marker:pars"), "there is parse,"));
	assert_non_null(strstr(missing(s, "marker:only_ends"), "it has ends, but no begin"));
	assert_non_null(strstr(missing(s, "usdt:db:q__start..q_done"), "there is"));
	assert_non_null(strstr(missing(s, "usdt:bd:q..r"), "there is db, ispot"));
	assert_non_null(strstr(missing(s, "usdt:db"), "write usdt:PROVIDER:BEGIN..END"));
	assert_int_equal(s->err.exit_status, 2);
	assert_non_null(strstr(missing(s, "usdt:db:q..*x"), "name the end"));
}

static const struct planned *plan_of(struct setup *s, struct plan *plan, const char *word,
				     unsigned kernel_version)
{
	struct target_traits traits = { 0 };

	plan_release(plan);
	chosen(s, word, NULL);
	*plan = (struct plan){ 0 };
	plan_add(plan, &s->selection, 0, &traits, kernel_version);
	assert_int_equal(plan->n, 1);
	return plan->data[0];
}

/* The 5-byte nop only where it becomes a call, and only behind the jump over the red zone. */
static void the_safe_and_cheap_nop_is_taken(void **state)
{
	struct plan plan = { 0 };
	const struct planned *p;

#ifndef __x86_64__
	skip();
#endif
	p = plan_of(*state, &plan, "marker:parse", KERNEL_VERSION(6, 18, 0));
	assert_true(p->possible);
	assert_int_equal(p->place.class, CLASS_MARKER);
	assert_int_equal(p->place.entry_offset, 1);
	p = plan_of(*state, &plan, "marker:parse", KERNEL_VERSION(6, 1, 0));
	assert_int_equal(p->place.class, CLASS_MARKER);
	assert_int_equal(p->place.entry_offset, 0);
	p = plan_of(*state, &plan, "usdt:db:q__start..q__done", KERNEL_VERSION(6, 18, 0));
	assert_int_equal(p->place.class, CLASS_USDT);
	assert_int_equal(p->place.entry_offset, 0);
	assert_int_equal(p->exit.mech, EXIT_RET_SITES);
	p = plan_of(*state, &plan, "usdt:db:five", KERNEL_VERSION(6, 18, 0));
	assert_false(p->possible);
	p = plan_of(*state, &plan, "usdt:db:five", KERNEL_VERSION(6, 12, 0));
	assert_true(p->possible);
	assert_int_equal(p->exit.mech, EXIT_NONE);
	p = plan_of(*state, &plan, "usdt:db:none", KERNEL_VERSION(6, 12, 0));
	assert_false(p->possible);
	plan_release(&plan);
}

static void chooses_markers(struct setup *s, const char *first, const char *second, bool expected)
{
	const char *words[] = { first, second };

	reset(s);
	assert_int_equal(patterns_parse(&s->patterns, words, 2, &s->err), 0);
	assert_int_equal(patterns_choose_markers(s->patterns), expected);
}

static void markers_are_asked_for_by_name(void **state)
{
	chooses_markers(*state, "parse", "!marker:parse", false);
	chooses_markers(*state, "parse", "marker:scan", true);
	chooses_markers(*state, "parse", "usdt:db:q__start..q__done", true);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

/* ---- arguments ---- */

static void operand_is(const struct wire_operand *o, int kind, int base, long long value)
{
	assert_int_equal(o->kind, kind);
	assert_int_equal(o->base, base);
	assert_int_equal(o->value, value);
}

static void operands_of_x86(void **state)
{
	const char *why[WIRE_ARGS_MAX];
	struct wire_operands r;

	assert_int_equal(operands_parse("-4@%eax 8@-80(%rbx) 1@%ah -4@$-7 2@(%r8,%rcx,4)",
					DSO_X86_64, &r, why),
			 5);
	for (unsigned i = 0; i < 5; i++)
		assert_null(why[i]);
	operand_is(&r.at[0], WIRE_OPERAND_REGISTER, 10, 0);
	assert_true(r.at[0].is_signed && r.at[0].bytes == 4);
	operand_is(&r.at[1], WIRE_OPERAND_MEMORY, 5, -80);
	assert_int_equal(r.at[1].index, WIRE_NO_REGISTER);
	assert_true(!r.at[1].is_signed && r.at[1].bytes == 8);
	operand_is(&r.at[2], WIRE_OPERAND_REGISTER, 10, 0);
	assert_int_equal(r.at[2].shift, 8);
	operand_is(&r.at[3], WIRE_OPERAND_CONSTANT, WIRE_NO_REGISTER, -7);
	operand_is(&r.at[4], WIRE_OPERAND_MEMORY, 9, 0);
	assert_true(r.at[4].index == 11 && r.at[4].shift == 2 && r.at[4].bytes == 2);
	assert_int_equal(
		operands_parse("8f@%xmm0 4@counter(%rip) 8@%rdi 16@(%rsi)", DSO_X86_64, &r, why),
		4);
	assert_non_null(why[0]);
	assert_non_null(why[1]);
	assert_null(why[2]);
	assert_non_null(why[3]);
	assert_int_equal(operands_parse("", DSO_X86_64, &r, why), 0);
}

static void operands_of_arm64(void **state)
{
	const char *why[WIRE_ARGS_MAX];
	struct wire_operands r;

	assert_int_equal(operands_parse("-4@w1 8@[sp, 24] -4@1000 8@[x0, x2, lsl #3] 8@x30 8@[x9]",
					DSO_AARCH64, &r, why),
			 6);
	for (unsigned i = 0; i < 6; i++)
		assert_null(why[i]);
	operand_is(&r.at[0], WIRE_OPERAND_REGISTER, 1, 0);
	operand_is(&r.at[1], WIRE_OPERAND_MEMORY, 31, 24);
	operand_is(&r.at[2], WIRE_OPERAND_CONSTANT, WIRE_NO_REGISTER, 1000);
	operand_is(&r.at[3], WIRE_OPERAND_MEMORY, 0, 0);
	assert_true(r.at[3].index == 2 && r.at[3].shift == 3);
	operand_is(&r.at[4], WIRE_OPERAND_REGISTER, 30, 0);
	operand_is(&r.at[5], WIRE_OPERAND_MEMORY, 9, 0);
	assert_int_equal(operands_parse("8@d0 8@[x0, w1, sxtw 3]", DSO_AARCH64, &r, why), 2);
	assert_non_null(why[0]);
	assert_non_null(why[1]);
}

/* All of a marker's arguments unless some are named; of other probes only those. */
static void markers_have_their_arguments(void **state)
{
	struct plan plan = { 0 };
	const struct planned *p;

	p = plan_of(*state, &plan, "marker:parse", KERNEL_VERSION(6, 18, 0));
	assert_int_equal(p->arguments.n, 1);
	assert_string_equal(p->arguments.all[0].name, "arg1");
	assert_string_equal(p->arguments.all[0].type, "int64_t");
	assert_int_equal(p->what.marker->begins.data[0].operands, 1);
	assert_int_equal(plan.operands.data[1].at[0].kind, WIRE_OPERAND_REGISTER);
	p = plan_of(*state, &plan, "marker:loop", KERNEL_VERSION(6, 18, 0));
	assert_int_equal(p->arguments.n, 0);
	p = plan_of(*state, &plan, "usdt:db:args..q__done@arg2", KERNEL_VERSION(6, 18, 0));
	assert_int_equal(p->arguments.n, 1);
	assert_int_equal(p->arguments.all[0].bit, 1);
	assert_string_equal(p->arguments.all[0].type, "uint16_t");
	p = plan_of(*state, &plan, "usdt:db:args..q__done", KERNEL_VERSION(6, 18, 0));
	assert_int_equal(p->arguments.n, 0);
	p = plan_of(*state, &plan, "marker:parse@arg2", KERNEL_VERSION(6, 18, 0));
	assert_non_null(strstr(p->reason, "there is no such argument; it has 1 argument"));
	p = plan_of(*state, &plan, "marker:parse@ret", KERNEL_VERSION(6, 18, 0));
	assert_non_null(strstr(p->reason, "a marker returns nothing"));
	plan_release(&plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(markers_are_chosen_by_name),    TEST(usdt_probes_make_pairs),
		TEST(what_is_not_there_is_named),    TEST(the_safe_and_cheap_nop_is_taken),
		TEST(markers_are_asked_for_by_name), TEST(markers_have_their_arguments),
		cmocka_unit_test(operands_of_x86),   cmocka_unit_test(operands_of_arm64),
	};

	return unit_run(tests);
}
