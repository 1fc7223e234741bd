/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "unit.h"
#include "analysis/trio.h"
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
	trios_take(t, &(struct corunner_range){ class, (uint32_t)(app - 'A'), first, last + 1 });
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

	(void)state;
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

	(void)state;
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

	(void)state;
	take(&t, CORUNNER_SOCKET, 'B', 1, 4);
	take(&t, CORUNNER_OTHER, 'C', 1, 4);
	take(&t, CORUNNER_CPU, 'D', 1, 4);
	take(&t, CORUNNER_CORE, 'E', 1, 4);
	expect(&t, "E+E 1-4 ");
	trios_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_must_be_there),
		cmocka_unit_test(classes_of_one_application_are_one),
		cmocka_unit_test(who_is_far_is_not_there),
	};

	return unit_run(tests);
}
