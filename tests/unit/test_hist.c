/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "unit.h"
#include "analysis/stat/hist.h"

static void buckets_tile_the_numbers(void **state)
{
	for (uint32_t b = 0; b + 1 < HIST_PAGES * HIST_PAGE; b++) {
		assert_true(hist_bucket_high(b) + 1 == hist_bucket_low(b + 1));
		assert_int_equal(hist_bucket(hist_bucket_low(b)), b);
		assert_int_equal(hist_bucket(hist_bucket_high(b)), b);
	}
	assert_int_equal(hist_bucket(UINT64_MAX), HIST_PAGES * HIST_PAGE - 1);
}

static void middles_are_within_1_6_percent(void **state)
{
	for (uint32_t b = 64; b < HIST_PAGES * HIST_PAGE; b++) {
		double low = (double)hist_bucket_low(b), high = (double)hist_bucket_high(b);

		assert_true((high - low) / 2 / low <= 1.0 / 64);
	}
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void quantiles_match_sorted_values(void **state)
{
	enum { N = 20011 };
	static uint64_t values[N];
	struct hist h = { 0 }, more = { 0 };
	uint64_t x = 1, sum = 0;

	for (int i = 0; i < N; i++) {
		x = x * 6364136223846793005ull + 1442695040888963407ull;
		values[i] = (x >> 33) >> (x >> 59); /* over many octaves */
		sum += values[i];
		hist_add(i % 3 ? &more : &h, values[i]);
	}
	hist_merge(&h, &more);
	hist_release(&more);
	hist_merge(&h, &more);
	qsort(values, N, sizeof(values[0]), by_value);
	assert_int_equal(h.count, N);
	assert_int_equal(h.sum, sum);
	assert_int_equal(h.min, values[0]);
	assert_int_equal(h.max, values[N - 1]);
	for (double q = 0.01; q < 1; q += 0.01) {
		uint64_t rank = (uint64_t)(q * N), got = hist_quantile(&h, q);
		double exact = (double)values[rank < N ? rank : N - 1];

		assert_true(exact < 2 || (got >= exact * 0.98 && got <= exact * 1.02));
	}
	assert_int_equal(hist_quantile(&h, 0), values[0]);
	assert_int_equal(hist_quantile(&h, 1), values[N - 1]);
	assert_int_equal(hist_between(&h, 0, UINT64_MAX), N);
	hist_release(&h);
}

static void empty_is_zero(void **state)
{
	struct hist h = { 0 };

	assert_int_equal(hist_quantile(&h, 0.5), 0);
	hist_release(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buckets_tile_the_numbers),
		cmocka_unit_test(middles_are_within_1_6_percent),
		cmocka_unit_test(quantiles_match_sorted_values),
		cmocka_unit_test(empty_is_zero),
	};

	return unit_run(tests);
}
