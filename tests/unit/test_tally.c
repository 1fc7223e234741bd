/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "unit.h"
#include "analysis/stat/tally.h"
#include "base/text.h"

#define N 5003

static uint32_t values[N];
static uint16_t buckets[N];

static void make_values(uint64_t seed)
{
	for (int i = 0; i < N; i++) {
		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		values[i] = (uint32_t)(seed >> 32) >> (seed >> 27 & 31);
		buckets[i] = tally_bucket(values[i]);
	}
}

static void buckets_tile_the_numbers(void **state)
{
	for (uint32_t b = 0; b + 1 < TALLY_BUCKETS; b++) {
		uint64_t next = tally_bucket_low(b) + tally_bucket_width(b);

		assert_int_equal(tally_bucket(tally_bucket_low(b)), b);
		assert_int_equal(tally_bucket((uint32_t)(next - 1)), b);
		assert_int_equal(next, tally_bucket_low(b + 1));
	}
	assert_int_equal(tally_bucket(UINT32_MAX), TALLY_BUCKETS - 1);
}

/* Everything of it as bytes. */
static void print(const struct tally *t, struct text *out)
{
	text_printf(out, "%llu %llu %llx %llx ", (unsigned long long)t->n,
		    (unsigned long long)t->sum, (unsigned long long)(t->squares >> 64),
		    (unsigned long long)t->squares);
	tally_pack(t, out);
}

/* The values dealt out to parts, which are then merged in another order, two by two. */
static void any_tree_of_merges_gives_the_same_bytes(void **state)
{
	struct text whole = { 0 };
	struct tally all = { 0 };

	make_values(7);
	tally_add(&all, values, buckets, N);
	print(&all, &whole);
	for (uint32_t parts = 2; parts < 40; parts += 7) {
		struct tally part[40] = { 0 };
		struct text merged = { 0 };

		for (uint32_t i = 0; i < N; i++)
			tally_add(&part[values[i] * 2654435761u % parts], &values[i], &buckets[i],
				  1);
		for (uint32_t left = parts; left > 1; left = (left + 1) / 2)
			for (uint32_t i = 0; i < left / 2; i++) {
				tally_merge(&part[i], &part[left - 1 - i]);
				tally_release(&part[left - 1 - i]);
			}
		print(&part[0], &merged);
		assert_int_equal(merged.n, whole.n);
		assert_memory_equal(merged.s, whole.s, whole.n);
		tally_release(&part[0]);
		text_release(&merged);
	}
	tally_release(&all);
	text_release(&whole);
}

static void packing_keeps_the_histogram(void **state)
{
	struct tally t = { 0 }, back = { 0 };
	struct text bytes = { 0 }, again = { 0 };

	make_values(3);
	tally_add(&t, values, buckets, N);
	tally_pack(&t, &bytes);
	assert_int_equal(tally_unpack(&back, bytes.s, bytes.n), 0);
	assert_int_equal(back.n, N);
	tally_pack(&back, &again);
	assert_int_equal(again.n, bytes.n);
	assert_memory_equal(again.s, bytes.s, bytes.n);
	assert_int_equal(tally_unpack(&back, bytes.s, bytes.n - 1), -EINVAL);
	assert_int_equal(tally_unpack(&back, "\xff\xff\xff\x01\x01", 5), -EINVAL);
	assert_int_equal(tally_unpack(&back, "\x01\x00", 2), -EINVAL);
	tally_release(&t);
	tally_release(&back);
	text_release(&bytes);
	text_release(&again);
}

static void moments_are_exact(void **state)
{
	struct tally t = { 0 };
	double mean = 0, variance = 0;

	for (int i = 0; i < N; i++) {
		values[i] = 4000000000u + (uint32_t)(i % 3); /* large, and hardly any difference */
		buckets[i] = tally_bucket(values[i]);
		mean += (i % 3) / (double)N;
	}
	for (int i = 0; i < N; i++)
		variance += (i % 3 - mean) * (i % 3 - mean) / N;
	tally_add(&t, values, buckets, N);
	assert_true(fabs(tally_mean(&t) - 4000000000.0 - mean) < 1e-6);
	assert_true(fabs(tally_deviation(&t) - sqrt(variance)) < 1e-9);
	tally_release(&t);
}

static void inverses(void **state)
{
	struct tally t = { 0 };

	for (int i = 0; i < N; i++) {
		values[i] = i % 2 ? 100 : 50; /* 0.01 and 0.02 */
		buckets[i] = tally_bucket(values[i]);
	}
	tally_add(&t, values, buckets, N);
	assert_true(fabs(tally_inverse_deviation(&t) - 0.005) < 1e-6);
	tally_release(&t);
}

static void quantiles_are_within_their_bucket(void **state)
{
	struct tally t = { 0 };

	for (int i = 0; i < N; i++) {
		values[i] = 1000000 + 200 * (uint32_t)i;
		buckets[i] = tally_bucket(values[i]);
	}
	tally_add(&t, values, buckets, N);
	for (double q = 0.01; q < 1; q += 0.01)
		assert_true(fabs(tally_quantile(&t, q) / (1000000 + 200 * q * N) - 1) < 0.0005);
	tally_release(&t);
	assert_true(isnan(tally_quantile(&t, 0.5)) && isnan(tally_mean(&t)));
}

/* What is left of a whole from which a part is taken is the other part. */
static void a_part_can_be_taken_away(void **state)
{
	struct tally whole = { 0 }, part = { 0 }, rest = { 0 };
	struct text a = { 0 }, b = { 0 };

	for (int i = 0; i < N; i++) {
		values[i] = 1000 + 37 * (uint32_t)i;
		buckets[i] = tally_bucket(values[i]);
	}
	tally_add(&whole, values, buckets, N);
	tally_add(&part, values, buckets, N / 3);
	tally_add(&rest, values + N / 3, buckets + N / 3, N - N / 3);
	tally_subtract(&whole, &part);
	tally_pack(&whole, &a);
	tally_pack(&rest, &b);
	assert_int_equal(a.n, b.n);
	assert_memory_equal(a.s, b.s, b.n);
	assert_true(whole.n == rest.n && whole.sum == rest.sum && whole.squares == rest.squares);
	tally_subtract(&whole, &part); /* of which some are not there any more */
	assert_int_equal(whole.n, 0);
	assert_true(isnan(tally_quantile(&whole, 0.5)));
	tally_release(&part);
	tally_release(&rest);
	text_release(&a);
	text_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buckets_tile_the_numbers),
		cmocka_unit_test(any_tree_of_merges_gives_the_same_bytes),
		cmocka_unit_test(packing_keeps_the_histogram),
		cmocka_unit_test(moments_are_exact),
		cmocka_unit_test(inverses),
		cmocka_unit_test(quantiles_are_within_their_bucket),
		cmocka_unit_test(a_part_can_be_taken_away),
	};

	return unit_run(tests);
}
