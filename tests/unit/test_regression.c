/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reference.h"

#include <math.h>

#include "analysis/correlation.h"
#include "analysis/regression.h"

static void the_selection_is_that_of_numpy(void **state)
{
	enum { M = 12, N = 40 };
	double in[3 + N + M * N], out[2 + 3 * M], *y = in + 3, *x = in + 3 + N;
	uint64_t seed = 5;
	struct regression g;
	size_t n;

	(void)state;
	in[0] = M;
	in[1] = N;
	in[2] = REGRESSION_LEVEL;
	for (size_t i = 0; i < M * N; i++)
		x[i] = 100 * reference_random(&seed);
	for (size_t i = 0; i < N; i++)
		y[i] = 7 + 3 * x[2 * N + i] - 2 * x[5 * N + i] + x[9 * N + i] / 2 +
		       50 * reference_random(&seed);
	n = reference("select", in, 3 + N + M * N, out, 2 + 3 * M);
	regression_select(&g, x, M, y, N, REGRESSION_LEVEL);
	assert_true(g.terms.n >= 3);
	assert_int_equal((size_t)out[0], g.terms.n);
	assert_int_equal(n, 2 + 3 * g.terms.n);
	assert_true(fabs(g.r2 - out[1]) < 1e-9);
	for (size_t i = 0; i < g.terms.n; i++) {
		assert_int_equal(g.terms.data[i].column, (uint32_t)out[2 + 3 * i]);
		assert_true(fabs(g.terms.data[i].p - out[3 + 3 * i]) < 1e-9);
		assert_true(fabs(g.terms.data[i].beta - out[4 + 3 * i]) < 1e-9);
	}
	regression_release(&g);
}

static void of_opposite_columns_the_growing_one_enters(void **state)
{
	static const double y[] = { 10, 20, 30, 40, 50 };
	static const double x[] = { 5, 4, 3, 2, 1, 1, 1, 1, 1, 1, 1, 2, 3, 4, 5 };
	struct regression g;

	(void)state;
	regression_select(&g, x, 3, y, 5, REGRESSION_LEVEL);
	assert_int_equal(g.terms.n, 1);
	assert_int_equal(g.terms.data[0].column, 2);
	assert_true(fabs(g.terms.data[0].beta - 1) < 1e-12);
	assert_true(fabs(g.r2 - 1) < 1e-12);
	regression_release(&g);
}

/* Constant y, no columns, too few values for the test: no term, no NaN. */
static void what_cannot_be_told_is_not(void **state)
{
	static const double x[] = { 1, 2, 3, 4, 7, 5 }, flat[] = { 3, 3, 3, 3, 3, 3 };
	struct regression g;

	(void)state;
	for (size_t n = 0; n <= 6; n++) {
		regression_select(&g, x, 1, flat, n, REGRESSION_LEVEL);
		assert_int_equal(g.terms.n, 0);
		assert_true(g.r2 == 0);
		regression_release(&g);
		regression_select(&g, NULL, 0, x, n, REGRESSION_LEVEL);
		assert_int_equal(g.terms.n, 0);
		regression_release(&g);
		regression_select(&g, flat, 1, x, n, REGRESSION_LEVEL);
		assert_int_equal(g.terms.n, 0);
		regression_release(&g);
	}
	regression_select(&g, x, 1, x, 2, REGRESSION_LEVEL);
	assert_int_equal(g.terms.n, 0);
	regression_release(&g);
}

/* More columns than values: never more than n - 2 of them. */
static void no_more_terms_than_values_allow(void **state)
{
	enum { M = 50, N = 5 };
	double x[M * N], y[N];
	uint64_t seed = 11;
	struct regression g;

	(void)state;
	for (int round = 0; round < 200; round++) {
		for (size_t i = 0; i < M * N; i++)
			x[i] = reference_random(&seed);
		for (size_t i = 0; i < N; i++)
			y[i] = reference_random(&seed);
		regression_select(&g, x, M, y, N, REGRESSION_LEVEL);
		assert_true(g.terms.n <= N - 2);
		vec_for_each (&g.terms, struct regression_term, t)
			assert_true(isfinite(t->beta) && t->beta != 0);
		regression_release(&g);
	}
}

static void what_follows_the_superior_is_taken_out(void **state)
{
	static const double executed[] = { 10, 20, 30, 40 }, misses[] = { 1, 2, 3, 4 };
	static const double uneven[] = { 9, 2, 3, 4 };
	double rest[4];

	(void)state;
	correlation_without(misses, executed, 4, rest);
	for (int i = 0; i < 4; i++)
		assert_true(fabs(rest[i] - 2.5) < 1e-12);
	assert_true(isnan(correlation(rest, executed, 4)));
	correlation_without(uneven, executed, 4, rest);
	assert_true(fabs(correlation(rest, executed, 4)) < 1e-12);
	assert_true(rest[0] > rest[1]);
	assert_true(isnan(correlation(executed, (const double[]){ 5, 5, 5, 5 }, 4)));
	assert_true(fabs(correlation(executed, misses, 4) - 1) < 1e-12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_selection_is_that_of_numpy),
		cmocka_unit_test(of_opposite_columns_the_growing_one_enters),
		cmocka_unit_test(what_cannot_be_told_is_not),
		cmocka_unit_test(no_more_terms_than_values_allow),
		cmocka_unit_test(what_follows_the_superior_is_taken_out),
	};

	return unit_run(tests);
}
