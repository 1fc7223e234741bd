/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "unit.h"
#include "analysis/fleet/fleet.h"
#include "analysis/fleet/trio.h"
#include "analysis/fleet/trio_rows.h"
#include "base/text.h"

struct seen {
	struct text text;
};

/* "B+C 3-5 ": beside samples 3 to 5 both ran. */
static void see(void *ctx, const struct fleet_run *base, uint32_t app, uint32_t second,
		uint32_t first, uint32_t n)
{
	struct seen *s = ctx;

	(void)base;
	text_printf(&s->text, "%c+%c %u-%u ", 'A' + (char)app, 'A' + (char)second, first,
		    first + n - 1);
}

static void take(struct trios *t, enum corunner_class class, char app, uint32_t first,
		 uint32_t last)
{
	trios_add(t, &(struct corunner_range){ class, (uint32_t)(app - 'A'), first, last + 1 });
}

/* Takes what there is. */
static void expect(struct trios *t, const char *table)
{
	struct seen s = { 0 };

	trios_find(t, NULL, see, &s);
	assert_string_equal(s.text.s ? s.text.s : "", table);
	text_release(&s.text);
}

static void both_must_be_there(void **state)
{
	struct trios t = { 0 };

	take(&t, CORUNNER_CACHE, 'C', 4, 9);
	take(&t, CORUNNER_CORE, 'B', 1, 5);
	take(&t, CORUNNER_CORE, 'B', 8, 8);
	expect(&t, "B+B 1-5 B+B 8-8 B+C 4-5 B+C 8-8 C+C 4-9 ");
	take(&t, CORUNNER_CACHE, 'C', 1,
	     2); /* of the next run: nothing is left of the one before */
	expect(&t, "C+C 1-2 ");
	expect(&t, "");
	trios_release(&t);
}

static void classes_of_one_application_are_one(void **state)
{
	struct trios t = { 0 };

	take(&t, CORUNNER_CORE, 'B', 1, 4);
	take(&t, CORUNNER_CACHE, 'B', 3, 6);
	take(&t, CORUNNER_CACHE, 'B', 7, 9);
	take(&t, CORUNNER_CORE, 'C', 2, 8);
	expect(&t, "B+B 1-9 B+C 2-8 C+C 2-8 ");
	trios_release(&t);
}

static void who_is_far_is_not_there(void **state)
{
	struct trios t = { 0 };

	take(&t, CORUNNER_SOCKET, 'B', 1, 4);
	take(&t, CORUNNER_OTHER, 'C', 1, 4);
	take(&t, CORUNNER_CPU, 'D', 1, 4);
	take(&t, CORUNNER_CORE, 'E', 1, 4);
	expect(&t, "E+E 1-4 ");
	trios_release(&t);
}

static void add_cell(struct fleet *f, char one, char other, double deviations,
		     enum fleet_effect effect)
{
	struct fleet_cell *cell = vec_add(&f->cells);

	cell->corunner = (uint32_t)(one - 'A');
	cell->second = (uint32_t)(other - 'A');
	cell->class = CORUNNER_TRIO;
	cell->deviations = deviations;
	cell->effect = effect;
}

/* A and B slow it; with C the trio of B is slower for A was there, too. D and E are others. */
static void of_trios_that_share_one_the_strongest_stands(void **state)
{
	static const enum fleet_effect want[] = {
		FLEET_NOT_CERTAIN, FLEET_NEGATIVE, FLEET_NEGATIVE,
		FLEET_POSITIVE,	   FLEET_WITHIN,   FLEET_NEGATIVE
	};
	struct fleet f = { 0 };
	struct fleet_base base = { .first = 0, .n = 6 };

	add_cell(&f, 'B', 'C', -1.4, FLEET_NEGATIVE);
	add_cell(&f, 'A', 'B', -2.3, FLEET_NEGATIVE);
	add_cell(&f, 'D', 'E', -1.1, FLEET_NEGATIVE);
	add_cell(&f, 'A', 'F', 1.5, FLEET_POSITIVE); /* not in the other's direction */
	add_cell(&f, 'A', 'E', -0.9, FLEET_WITHIN);
	add_cell(&f, 'C', 'F', -1.2, FLEET_NEGATIVE); /* with one that does not stand */
	fleet_trio_drop_weaker(&f, &base);
	for (size_t i = 0; i < f.cells.n; i++)
		assert_int_equal(f.cells.data[i].effect, want[i]);
	vec_release(&f.cells);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_must_be_there),
		cmocka_unit_test(classes_of_one_application_are_one),
		cmocka_unit_test(who_is_far_is_not_there),
		cmocka_unit_test(of_trios_that_share_one_the_strongest_stands),
	};

	return unit_run(tests);
}
