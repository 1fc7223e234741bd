/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit.h"

#include <math.h>

#include "probes/cost/samplecost.h"

#define WALKS	4000
#define WALK_NS 1000
#define SAMPLES 40

/* Every hundredth walk is met by a sample and takes so much longer, and half the rest behind it. */
static size_t walks(uint64_t *at, uint64_t *samples, uint64_t longer_ns)
{
	uint64_t now_ns = 7000000;
	size_t n = 0;

	for (size_t i = 0; i < WALKS; i++) {
		at[i] = now_ns;
		now_ns += WALK_NS;
		if (i % 100 == 50) {
			samples[n++] = now_ns;
			now_ns += longer_ns / 2;
		}
		if (i % 100 == 52)
			now_ns += longer_ns - longer_ns / 2;
	}
	return n;
}

static uint64_t at[WALKS], samples[SAMPLES];

static void what_is_behind_a_sample_counts(void **state)
{
	size_t n = walks(at, samples, 20000);

	assert_int_equal(n, SAMPLES);
	assert_int_equal(samplecost_of(at, WALKS, samples, n), 20000);
}

static void samples_in_any_order(void **state)
{
	size_t n = walks(at, samples, 20000);

	for (size_t i = 0; i < n / 2; i++) {
		uint64_t swapped = samples[i];

		samples[i] = samples[n - 1 - i];
		samples[n - 1 - i] = swapped;
	}
	assert_int_equal(samplecost_of(at, WALKS, samples, n), 20000);
}

/* A time slice that others had in between is no part of it. */
static void slices_of_others(void **state)
{
	size_t n = walks(at, samples, 20000), late = 0;

	for (size_t i = 0; i < WALKS; i++) {
		if (i == 1052 || i == 3052)
			late += 4000000;
		at[i] += late;
		if (i % 100 == 51)
			samples[i / 100] += late;
	}
	assert_int_equal(samplecost_of(at, WALKS, samples, n), 20000);
}

/* Samples before the first walk and behind the last one met nothing. */
static void samples_beside_the_walks(void **state)
{
	size_t n = walks(at, samples, 20000);

	samples[0] = at[0] - 5;
	samples[1] = at[WALKS - 1] + 5;
	assert_int_equal(samplecost_of(at, WALKS, samples, n), 20000);
}

static void too_few_to_tell(void **state)
{
	walks(at, samples, 20000);
	assert_true(isnan(samplecost_of(at, WALKS, samples, SAMPLECOST_LEAST - 1)));
	assert_true(isnan(samplecost_of(at, 3, samples, SAMPLES)));
	assert_true(isnan(samplecost_of(NULL, 0, NULL, 0)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_behind_a_sample_counts),
		cmocka_unit_test(samples_in_any_order),
		cmocka_unit_test(slices_of_others),
		cmocka_unit_test(samples_beside_the_walks),
		cmocka_unit_test(too_few_to_tell),
	};

	return unit_run(tests);
}
