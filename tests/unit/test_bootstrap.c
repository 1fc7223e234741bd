/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit.h"

#include <math.h>

#include "analysis/bootstrap.h"
#include "analysis/hist.h"

static void nothing_is_in_doubt_where_all_was_seen(void **state)
{
	struct hist h = { 0 };
	struct bootstrap b;

	(void)state;
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

	(void)state;
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

	(void)state;
	for (int i = 0; i < 1000; i++)
		hist_add(&h, i % 333 ? 1000 : 1000000000);
	b = bootstrap_mean(&h, 100000);
	assert_true(b.high > 1.1 * b.low);
	assert_true(b.low > 0);
	hist_release(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_in_doubt_where_all_was_seen),
		cmocka_unit_test(it_agrees_with_the_normal_interval),
		cmocka_unit_test(rare_slow_calls_widen_it_upwards),
	};

	return unit_run(tests);
}
