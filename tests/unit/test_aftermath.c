/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit.h"

#include "probes/aftermath.h"

static const struct aftermath some = { .at = { { 1000, 300 }, { 10000, 400 }, { 40000, 1000 } } };

static void as_measured(void **state)
{
	(void)state;
	for (int i = 0; i < AFTERMATH_POINTS; i++)
		assert_true(aftermath_ns(&some, some.at[i].work_ns) == some.at[i].after_ns);
}

static void between_two_lengths(void **state)
{
	(void)state;
	assert_true(aftermath_ns(&some, 500) == 150);
	assert_true(aftermath_ns(&some, 5500) == 350);
	assert_true(aftermath_ns(&some, 25000) == 700);
}

static void no_work_and_very_much(void **state)
{
	(void)state;
	assert_true(aftermath_ns(&some, 0) == 0);
	assert_true(aftermath_ns(&some, 1e12) == 1000);
}

static void not_measured(void **state)
{
	static const struct aftermath none;

	(void)state;
	assert_true(aftermath_ns(&none, 0) == 0);
	assert_true(aftermath_ns(&none, 1e6) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_measured),
		cmocka_unit_test(between_two_lengths),
		cmocka_unit_test(no_work_and_very_much),
		cmocka_unit_test(not_measured),
	};

	return unit_run(tests);
}
