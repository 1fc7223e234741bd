/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Loops whose iterations take turns at being of several forms. */
#include "unit.h"
#include "dice.h"
#include "sequence_story.h"

#define RUNS	  200
#define FORMS_MAX 5

struct forms {
	const char *of[FORMS_MAX];
	unsigned n;
	uint64_t seen[FORMS_MAX];
	unsigned turn;
	uint64_t random;
};

static unsigned below(struct forms *f, unsigned n)
{
	return (unsigned)dice_below(&f->random, n);
}

/* Of the next form, or of one that the dice choose. */
static void iteration(struct forms *f, bool in_order, struct text *row)
{
	unsigned next = in_order ? f->turn++ % f->n : below(f, f->n);

	f->seen[next]++;
	text_add(row, f->of[next]);
}

/* RUNS times f with 1 to 20 iterations; read. */
static void tell(struct story *s, struct forms *f, bool in_order)
{
	begin(s, letters, 8);
	for (unsigned i = 0; i < RUNS; i++) {
		struct text row = { 0 };

		text_add(&row, "f{");
		for (unsigned n = 1 + below(f, 20); n; n--)
			iteration(f, in_order, &row);
		text_add(&row, "}");
		play(s, 1, row.s);
		text_release(&row);
	}
	read_all(s);
}

/* The bodies of f that are of just these forms, whichever was met first: as many calls. */
static uint64_t runs_of(const struct story *s, const char *before, const char *const *forms,
			const char *after)
{
	size_t n = strlen(before) + strlen(after) - 3;
	uint64_t calls = 0;

	for (unsigned i = 0; forms[i]; i++)
		n += strlen(forms[i]) + 3;
	vec_for_each (&s->blocks, const struct block, b) {
		bool all = !strncmp(b->name, before, strlen(before)) && strlen(b->name) == n &&
			   !strcmp(b->name + n - strlen(after), after);

		for (unsigned i = 0; forms[i]; i++)
			all = all && strstr(b->name, forms[i]);
		calls += all ? b->calls : 0;
	}
	return calls;
}

/* Every form is a sequence of its own, and what is around them is one. */
static void three_forms(void **state)
{
	static const char *const forms[] = { "a b", "a c", "a d", NULL };

	for (int in_order = 0; in_order <= 1; in_order++) {
		struct forms f = { .of = { "ab", "ac", "ad" }, .n = 3 };
		struct story s;

		tell(&s, &f, in_order);
		assert_int_equal(runs_of(&s, "f { (", forms, ")×n }"), RUNS);
		assert_int_equal(count(&s, "a b"), f.seen[0]);
		assert_int_equal(count(&s, "a c"), f.seen[1]);
		assert_int_equal(count(&s, "a d"), f.seen[2]);
		assert_int_equal(find(&s, "a c")->min_ns, 210);
		assert_int_equal(find(&s, "a c")->max_ns, 210);
		/* these and the four calls */
		assert_int_equal(s.blocks.n, 8);
		end(&s);
	}
}

static void two_forms(void **state)
{
	struct forms f = { .of = { "ab", "ac" }, .n = 2 };
	struct story s;

	tell(&s, &f, true);
	assert_int_equal(count(&s, "f { (a b | a c)×n }"), RUNS);
	assert_int_equal(count(&s, "a b"), f.seen[0]);
	assert_int_equal(count(&s, "a c"), f.seen[1]);
	assert_int_equal(s.blocks.n, 6);
	end(&s);
}

/* What loops inside an iteration is folded there. */
static void loops_inside(void **state)
{
	static const char *const forms[] = { "a b", "a (c d)×n", "a e×n", NULL };
	struct forms f = { .of = { "ab", "acdcd", "acdcdcd", "ae", "aee" }, .n = 5 };
	struct story s;

	tell(&s, &f, false);
	assert_int_equal(count(&s, "a b"), f.seen[0]);
	assert_int_equal(count(&s, "a (c d)×n"), f.seen[1] + f.seen[2]);
	assert_int_equal(count(&s, "c d"), 2 * f.seen[1] + 3 * f.seen[2]);
	assert_int_equal(count(&s, "a e×n"), f.seen[3] + f.seen[4]);
	assert_int_equal(find(&s, "a (c d)×n")->min_ns, 5 * 100 + 4 * 10);
	assert_int_equal(find(&s, "a (c d)×n")->max_ns, 7 * 100 + 6 * 10);
	assert_int_equal(runs_of(&s, "f { (", forms, ")×n }"), RUNS);
	end(&s);
}

/* Nothing says where an iteration begins: each call is one. */
static void without_a_header(void **state)
{
	static const char *const forms[] = { "a", "b", "c", NULL };
	struct forms f = { .of = { "a", "b", "c" }, .n = 3 };
	struct story s;

	tell(&s, &f, false);
	assert_int_equal(runs_of(&s, "f { (", forms, ")×n }"), RUNS);
	assert_int_equal(count(&s, "a"), f.seen[0]);
	assert_int_equal(s.blocks.n, 4);
	end(&s);
}

/* What is before and behind such a loop is told from it. */
static void around(void **state)
{
	static const char *const forms[] = { "a b", "a c", "a d", NULL };
	struct story s;
	uint64_t random = 0;
	uint64_t seen = 0;

	begin(&s, letters, 8);
	for (unsigned i = 0; i < RUNS; i++) {
		struct text row = { 0 };

		text_add(&row, "f{g");
		for (uint64_t n = 1 + dice_below(&random, 20); n; n--, seen++)
			text_printf(&row, "a%c", (int)('b' + dice_below(&random, 3)));
		text_add(&row, i % 2 ? "h}" : "he}");
		play(&s, 1, row.s);
		text_release(&row);
	}
	read_all(&s);
	assert_int_equal(count(&s, "a"), seen);
	assert_int_equal(runs_of(&s, "f { g (", forms, ")×n h }"), RUNS / 2);
	assert_int_equal(runs_of(&s, "f { g (", forms, ")×n h e }"), RUNS / 2);
	end(&s);
}

/* More forms than are told apart: their loop is still one element, and memory is bounded. */
static void too_many_forms(void **state)
{
	struct story s;
	uint64_t random = 0, bodies = 0;

	begin(&s, letters, 8);
	for (unsigned i = 0; i < RUNS; i++) {
		struct text row = { 0 };

		text_add(&row, "f{");
		for (uint64_t n = 1 + dice_below(&random, 20); n; n--)
			text_printf(&row, "a%c%c%c", "bcdegh"[dice_below(&random, 6)],
				    "bcdegh"[dice_below(&random, 6)],
				    "bcdegh"[dice_below(&random, 6)]);
		text_add(&row, "}");
		play(&s, 1, row.s);
		text_release(&row);
	}
	read_all(&s);
	vec_for_each (&s.blocks, const struct block, b)
		if (!strncmp(b->name, "f {", 3)) {
			assert_int_equal(b->calls, RUNS);
			assert_non_null(strstr(b->name, "| …)×n }"));
			bodies++;
		}
	assert_int_equal(bodies, 1);
	end(&s);
}

/* A few statements that look alike, some left out at times, are no loop. */
static void statements(void **state)
{
	struct story s;

	begin(&s, letters, 8);
	for (unsigned i = 0; i < 160; i++) {
		char row[32];

		snprintf(row, sizeof(row), "f{ab%s%s%s%s}", i & 1 ? "ad" : "", i & 2 ? "ae" : "",
			 i & 4 ? "g" : "", i & 8 ? "h" : "");
		play(&s, 1, row);
	}
	read_all(&s);
	assert_int_equal(count(&s, "f { a b }"), 10);
	assert_int_equal(count(&s, "f { a b a d a e g h }"), 10);
	end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_forms),	cmocka_unit_test(three_forms),
		cmocka_unit_test(loops_inside), cmocka_unit_test(without_a_header),
		cmocka_unit_test(around),	cmocka_unit_test(too_many_forms),
		cmocka_unit_test(statements),
	};

	return unit_run(tests);
}
