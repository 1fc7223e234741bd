/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit.h"

#include "probes/cost/aftermath.h"

static const struct aftermath some = {
	.at = { { { 1000, 300 }, { 10000, 400 }, { 40000, 1000 } },
		{ { 2000, 400 }, { 20000, 1400 }, { 80000, 3000 } } }
};

#define LITTLE 1e6
#define HALF   16e6
#define MUCH   1e9

static void as_measured(void **state)
{
	for (int i = 0; i < AFTERMATH_POINTS; i++)
		assert_true(aftermath_ns(&some, some.at[AFTERMATH_LITTLE][i].work_ns, LITTLE) ==
			    some.at[AFTERMATH_LITTLE][i].after_ns);
	for (int i = 1; i < AFTERMATH_POINTS; i++)
		assert_true(aftermath_ns(&some, some.at[AFTERMATH_MUCH][i].work_ns, MUCH) ==
			    some.at[AFTERMATH_MUCH][i].after_ns);
}

static void more_memory_never_loses_less(void **state)
{
	static const struct aftermath slow = {
		.at = { { { 1000, 300 }, { 10000, 400 }, { 40000, 1000 } },
			{ { 5000, 200 }, { 20000, 1400 }, { 80000, 3000 } } }
	};

	assert_true(aftermath_ns(&slow, 1000, MUCH) == 300);
	assert_true(aftermath_ns(&slow, 20000, MUCH) == 1400);
}

static void between_two_lengths(void **state)
{
	assert_true(aftermath_ns(&some, 500, LITTLE) == 150);
	assert_true(aftermath_ns(&some, 5500, LITTLE) == 350);
	assert_true(aftermath_ns(&some, 25000, LITTLE) == 700);
}

/* By its logarithm: from 4 MB to 64 MB. */
static void between_two_memories(void **state)
{
	assert_float_equal(aftermath_ns(&some, 20000, HALF), (600 + 1400) / 2, 1e-6);
	assert_true(aftermath_ns(&some, 20000, HALF) < aftermath_ns(&some, 20000, 2 * HALF));
	assert_true(aftermath_ns(&some, 20000, 0) == 600);
}

static void no_work_and_very_much(void **state)
{
	assert_true(aftermath_ns(&some, 0, LITTLE) == 0);
	assert_true(aftermath_ns(&some, 1e12, LITTLE) == 1000);
	assert_true(aftermath_ns(&some, 1e12, MUCH) == 3000);
}

static void not_measured(void **state)
{
	static const struct aftermath none;

	assert_true(aftermath_ns(&none, 0, LITTLE) == 0);
	assert_true(aftermath_ns(&none, 1e6, MUCH) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_measured),
		cmocka_unit_test(between_two_lengths),
		cmocka_unit_test(between_two_memories),
		cmocka_unit_test(more_memory_never_loses_less),
		cmocka_unit_test(no_work_and_very_much),
		cmocka_unit_test(not_measured),
	};

	return unit_run(tests);
}
