/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit.h"

#include <math.h>

#include "analysis/stat/bootstrap.h"
#include "analysis/stat/hist.h"

static void nothing_is_in_doubt_where_all_was_seen(void **state)
{
	struct hist h = { 0 };
	struct bootstrap b;

	for (int i = 0; i < 100; i++)
		hist_add(&h, 100 + i);
	b = bootstrap_mean(&h, 100);
	assert_true(b.low == 0 && b.high == 0);
	hist_release(&h);
}

/* Against 1.96 standard errors, where these are right. */
static void it_agrees_with_the_normal_interval(void **state)
{
	uint64_t random = 12345;
	double sum = 0, squares = 0, error;
	struct hist h = { 0 };
	struct bootstrap b;

	for (int i = 0; i < 10000; i++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		hist_add(&h, random >> 44);
		sum += (double)(random >> 44);
		squares += (double)(random >> 44) * (double)(random >> 44);
	}
	error = 1.96 * sqrt((squares / 1e4 - sum / 1e4 * sum / 1e4) / 1e4);
	b = bootstrap_mean(&h, 1e9);
	assert_true(fabs(b.low / error - 1) < 0.15);
	assert_true(fabs(b.high / error - 1) < 0.15);
	hist_release(&h);
}

/* A few calls of a second among a thousand of a microsecond: more may be missing above than below.
 */
static void rare_slow_calls_widen_it_upwards(void **state)
{
	struct hist h = { 0 };
	struct bootstrap b;

	for (int i = 0; i < 1000; i++)
		hist_add(&h, i % 333 ? 1000 : 1000000000);
	b = bootstrap_mean(&h, 100000);
	assert_true(b.high > 1.1 * b.low);
	assert_true(b.low > 0);
	hist_release(&h);
}

/* The mean of a skewed population is inside the interval of nearly every sample of it. */
static void the_truth_is_inside(void **state)
{
	enum { ALL = 20000, SAMPLE = 500, TRIES = 200 };
	static uint64_t values[ALL];
	uint64_t random = 99;
	double truth = 0;
	int inside = 0;

	for (int i = 0; i < ALL; i++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		/* a microsecond, one in twenty waits up to fifty */
		values[i] =
			1000 + (random >> 52) + (random >> 33) % 20 / 19 * (random >> 40) % 50000;
		truth += (double)values[i] / ALL;
	}
	for (int k = 0; k < TRIES; k++) {
		struct hist h = { 0 };
		struct bootstrap b;
		double mean;

		for (int i = 0; i < SAMPLE; i++) {
			random = random * 6364136223846793005u + 1442695040888963407u;
			hist_add(&h, values[(random >> 33) % ALL]);
		}
		b = bootstrap_mean(&h, ALL);
		mean = (double)h.sum / (double)h.count;
		inside += mean - b.low <= truth && truth <= mean + b.high;
		/* and is not so wide that it says nothing */
		assert_true(b.low + b.high < truth / 2);
		hist_release(&h);
	}
	assert_in_range(inside, TRIES * 90 / 100, TRIES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_in_doubt_where_all_was_seen),
		cmocka_unit_test(it_agrees_with_the_normal_interval),
		cmocka_unit_test(rare_slow_calls_widen_it_upwards),
		cmocka_unit_test(the_truth_is_inside),
	};

	return unit_run(tests);
}
