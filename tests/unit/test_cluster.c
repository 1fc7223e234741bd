/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reference.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/stat/cluster.h"
#include "analysis/stat/correlation.h"

static const struct cluster_options paper = { CLUSTER_THRESHOLD, CLUSTER_BULK };
static const struct cluster_options exact = { CLUSTER_THRESHOLD, 2 };
static const struct cluster_options whole = { -1, 2 };

static void counts_that_go_together_are_one(void **state)
{
	static const double counts[] = {
		1, 2, 3, 4, /* 0 */
		9, 1, 1, 1, /* 1 */
		2, 4, 6, 8, /* 0, exactly */
		7, 7, 7, 7, /* constant */
		9, 0, 0, 1, /* 1, nearly */
		4, 3, 2, 1, /* against 0 */
	};
	struct clusters c;

	clusters_build(&c, counts, 6, 4, &paper);
	assert_int_equal(c.n, 3);
	assert_int_equal(c.of[0], 0);
	assert_int_equal(c.of[1], 1);
	assert_int_equal(c.of[2], 0);
	assert_int_equal(c.of[3], CLUSTER_NONE);
	assert_int_equal(c.of[4], 1);
	assert_int_equal(c.of[5], 2);
	clusters_release(&c);
}

static void nothing_to_cluster(void **state)
{
	static const double constant[] = { 3, 3, 3, 3, 3, 3 };
	struct clusters c;

	clusters_build(&c, NULL, 0, 4, &paper);
	assert_int_equal(c.n, 0);
	clusters_release(&c);
	clusters_build(&c, constant, 6, 1, &paper);
	assert_int_equal(c.n, 0);
	clusters_release(&c);
	clusters_build(&c, constant, 2, 3, &paper);
	assert_int_equal(c.n, 0);
	clusters_release(&c);
}

/* Groups of events around a common course over the threads, with noise: some are near enough. */
static double *random_counts(uint32_t n, size_t threads, uint32_t groups, uint64_t seed)
{
	double *counts = malloc(n * threads * sizeof(*counts)), *course;

	course = malloc(groups * threads * sizeof(*course));
	for (size_t i = 0; i < groups * threads; i++)
		course[i] = 1000 * reference_random(&seed);
	for (uint32_t i = 0; i < n; i++) {
		double noise = 900 * reference_random(&seed);
		uint32_t g = (uint32_t)(reference_random(&seed) * groups);

		for (size_t t = 0; t < threads; t++)
			counts[i * threads + t] =
				course[g * threads + t] + noise * reference_random(&seed);
	}
	free(course);
	return counts;
}

static void assert_same_partition(const uint32_t *of, const double *labels, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < i; j++)
			assert_int_equal(of[i] == of[j], labels[i] == labels[j]);
}

static void assert_as_scipy(uint32_t n, size_t threads, uint32_t groups)
{
	double *counts = random_counts(n, threads, groups, 7 + threads);
	size_t n_in = 2 + n * threads;
	double *in = malloc(n_in * sizeof(*in)), *out = malloc(2 * n * sizeof(*out));
	struct clusters c;

	in[0] = n;
	in[1] = (double)threads;
	memcpy(in + 2, counts, n * threads * sizeof(*in));
	assert_int_equal(reference(BY_SCIPY, "linkage", in, n_in, out, 2 * n), 2 * n - 1);
	clusters_build(&c, counts, n, threads, &whole);
	assert_int_equal(c.n, 1);
	assert_int_equal(c.merges.n, n - 1);
	for (size_t i = 0; i < n - 1; i++)
		assert_true(fabs(c.merges.data[i].r - out[i]) < 1e-9);
	clusters_release(&c);
	clusters_build(&c, counts, n, threads, &exact);
	assert_true(c.n > 2 && c.n < n);
	assert_same_partition(c.of, out + n - 1, n);
	clusters_release(&c);
	free(counts);
	free(in);
	free(out);
}

static void the_tree_is_that_of_scipy(void **state)
{
	assert_as_scipy(300, 13, 40);
	assert_as_scipy(50, 3, 10);
	assert_as_scipy(150, 4, 30);
	assert_as_scipy(100, 64, 20);
}

/* Bulk merging may only join what is alike: every member is near its cluster's first event. */
static void bulk_merging_joins_only_what_is_alike(void **state)
{
	enum { N = 500, THREADS = 8 };
	double *counts = random_counts(N, THREADS, 12, 3);
	uint32_t first[N];
	struct clusters c;

	clusters_build(&c, counts, N, THREADS, &paper);
	for (uint32_t i = N; i-- > 0;)
		first[c.of[i]] = i;
	for (uint32_t i = 0; i < N; i++)
		assert_true(correlation(counts + i * THREADS, counts + first[c.of[i]] * THREADS,
					THREADS) > 0.7);
	clusters_release(&c);
	free(counts);
}

/* r with the first one: 0.994 and 0.983. Where nothing else merges the bulk still does, at 0.99. */
static void the_bulk_is_what_correlates_by_099(void **state)
{
	static const double counts[] = { 1, 2, 3, 4, 1, 2, 3, 4.5, 1, 2, 3, 5 };
	static const struct cluster_options bulk = { 1, CLUSTER_BULK }, none = { 1, 2 };
	struct clusters c;

	clusters_build(&c, counts, 3, 4, &bulk);
	assert_int_equal(c.n, 2);
	assert_int_equal(c.of[1], 0);
	assert_int_equal(c.of[2], 1);
	clusters_release(&c);
	clusters_build(&c, counts, 3, 4, &none);
	assert_int_equal(c.n, 3);
	clusters_release(&c);
}

/* Thousands of equal counts, as code that is run together has: chains of ties must end. */
static void equal_counts_are_one_cluster(void **state)
{
	enum { N = 3000, THREADS = 5 };
	double *counts = malloc(N * THREADS * sizeof(*counts));
	struct clusters c;

	for (uint32_t i = 0; i < N; i++)
		for (uint32_t t = 0; t < THREADS; t++)
			counts[i * THREADS + t] = (double)(t * t + 1) * (1 + i % 7) / 3;
	clusters_build(&c, counts, N, THREADS, &exact);
	assert_int_equal(c.n, 1);
	clusters_release(&c);
	clusters_build(&c, counts, N, THREADS, &paper);
	assert_int_equal(c.n, 1);
	clusters_release(&c);
	free(counts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_that_go_together_are_one),
		cmocka_unit_test(nothing_to_cluster),
		cmocka_unit_test(the_tree_is_that_of_scipy),
		cmocka_unit_test(bulk_merging_joins_only_what_is_alike),
		cmocka_unit_test(the_bulk_is_what_correlates_by_099),
		cmocka_unit_test(equal_counts_are_one_cluster),
	};

	return unit_run(tests);
}
