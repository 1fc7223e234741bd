/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reference.h"

#include <errno.h>
#include <math.h>

#include "analysis/stat/correlation.h"
#include "analysis/stat/regression.h"
#include "analysis/stat/stats.h"

static void the_selection_is_that_of_numpy(void **state)
{
	enum { M = 12, N = 40 };
	double in[3 + N + M * N], out[2 + 3 * M], *y = in + 3, *x = in + 3 + N;
	uint64_t seed = 5;
	struct regression g;
	size_t n;

	in[0] = M;
	in[1] = N;
	in[2] = REGRESSION_LEVEL;
	for (size_t i = 0; i < M * N; i++)
		x[i] = 100 * reference_random(&seed);
	for (size_t i = 0; i < N; i++)
		y[i] = 7 + 3 * x[2 * N + i] - 2 * x[5 * N + i] + x[9 * N + i] / 2 +
		       50 * reference_random(&seed);
	n = reference(BY_SCIPY, "select", in, 3 + N + M * N, out, 2 + 3 * M);
	regression_select(&g, x, M, y, N, REGRESSION_LEVEL, REGRESSION_OWN);
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

/*
 * What counts of threads look like: independent; of very different sizes; a column that is another
 * with a thousandth or less of its own, which is what y follows; among them columns
 * that are constant, or another once more. Many values, few, fewer than columns.
 */
enum shape { PLAIN, SIZES, COLLINEAR, USELESS, SHAPES };
static const struct kind {
	enum shape shape;
	uint32_t m, n;
	double apart;
} kinds[] = {
	{ PLAIN, 3, 40, 0 },	    { PLAIN, 12, 64, 0 },	{ PLAIN, 1, 4, 0 },
	{ PLAIN, 3, 8, 0 },	    { SIZES, 6, 32, 0 },	{ SIZES, 10, 16, 0 },
	{ COLLINEAR, 4, 24, 1e-3 }, { COLLINEAR, 4, 24, 3e-4 }, { USELESS, 6, 16, 0 },
	{ PLAIN, 8, 5, 0 },	    { PLAIN, 12, 8, 0 },	{ PLAIN, 4, 5, 0 },
};
#define KINDS  (sizeof(kinds) / sizeof(kinds[0]))
#define ROUNDS 5
#define M_MAX  12
#define N_MAX  64

struct problem {
	const struct kind *kind;
	double all[2 + N_MAX + M_MAX * N_MAX]; /* as reference.R wants it */
	double *y, *x;
};

static size_t size_of(const struct kind *k)
{
	return 2 + k->n + (size_t)k->m * k->n;
}

static void depend(const struct kind *k, double *x)
{
	for (uint32_t i = 0; i < k->n; i++) {
		if (k->shape == COLLINEAR)
			x[2 * k->n + i] = x[k->n + i] + k->apart * x[2 * k->n + i];
		if (k->shape == USELESS) {
			x[k->n + i] = 7;
			x[4 * k->n + i] = 3 * x[2 * k->n + i] + 1;
		}
	}
}

static void draw(struct problem *p, const struct kind *k, uint64_t *seed)
{
	double size = 1, *second;

	p->kind = k;
	p->all[0] = k->m;
	p->all[1] = k->n;
	p->y = p->all + 2;
	p->x = p->y + k->n;
	for (uint32_t j = 0; j < k->m; j++) {
		for (uint32_t i = 0; i < k->n; i++)
			p->x[j * k->n + i] = size * (1 + reference_random(seed));
		size *= k->shape == SIZES ? 31 : 1;
	}
	depend(k, p->x);
	second = p->x + (k->m > 2 ? 2 * k->n : 0);
	for (uint32_t i = 0; i < k->n; i++) {
		p->y[i] = reference_random(seed) / 4 + 2 * p->x[i] / p->x[0] +
			  3 * second[i] / second[0];
		if (k->shape == COLLINEAR)
			p->y[i] += 2 * (second[i] - p->x[k->n + i]) / k->apart;
	}
}

/* All kinds, several of each, by one run of R, which takes half a second to begin, or as it was
 * kept. */
static struct problem *draw_all(const char *what, bool kept, double **out, size_t *n_out)
{
	struct problem *all = calloc(ROUNDS * KINDS, sizeof(*all));
	double *in = malloc(ROUNDS * KINDS * sizeof(all->all));
	size_t n_in = 0, room = ROUNDS * KINDS * (2 + 4 * M_MAX);
	uint64_t seed = 17;

	*out = malloc(room * sizeof(**out));
	for (size_t i = 0; i < ROUNDS * KINDS; i++) {
		draw(&all[i], &kinds[i % KINDS], &seed);
		memcpy(in + n_in, all[i].all, size_of(all[i].kind) * sizeof(*in));
		n_in += size_of(all[i].kind);
	}
	if (kept) {
		*n_out = reference_read(reference_kept(what, "r"), *out, room);
	} else {
		*n_out = reference(BY_R, what, in, n_in, *out, room);
		if (getenv("BLESS"))
			reference_write(reference_kept(what, "w"), *out, *n_out);
	}
	free(in);
	return all;
}

static void assert_near(double got, double wanted, double size)
{
	if (!(fabs(got - wanted) <= 1e-9 * fmax(fabs(wanted), size)))
		fail_msg("%.17g is not %.17g", got, wanted);
}

/*
 * Relative to the coefficient, or where that is next to nothing to its standard error. Where there
 * are not enough values for all columns, lm leaves some out; ours says so.
 */
static void the_lines_are_those_of_lm(void **state)
{
	double *out, b[1 + M_MAX];
	size_t n_out, at = 0;
	struct problem *all = draw_all("lines", *state != NULL, &out, &n_out);

	for (struct problem *p = all; p < all + ROUNDS * KINDS; p++) {
		const struct kind *k = p->kind;
		const double *lm = out + at;

		at += 3 + 2 * k->m;
		assert_true(at <= n_out);
		if (k->shape == USELESS)
			continue; /* which are left out is for the selection to say */
		assert_int_equal(stats_lines(p->x, k->m, p->y, k->n, b), lm[0] > 0 ? 0 : -EINVAL);
		assert_int_equal(isnan(lm[1 + 2 * k->m]), k->n < k->m + 1);
		for (uint32_t j = 0; lm[0] > 0 && j <= k->m; j++)
			assert_near(b[j], lm[1 + 2 * j], lm[2 + 2 * j]);
	}
	assert_int_equal(at, n_out);
	free(out);
	free(all);
}

static void assert_selected(const struct regression *g, const double *lm)
{
	assert_int_equal(g->terms.n, (size_t)lm[0]);
	if (g->terms.n)
		assert_near(g->r2, lm[1], 0);
	lm += 2;
	vec_for_each (&g->terms, const struct regression_term, t) {
		assert_int_equal(t->column, (uint32_t)lm[0]);
		assert_near(t->f, lm[1], 0);
		assert_near(t->p, lm[2], 0);
		assert_near(t->beta, lm[3], 0);
		lm += 4;
	}
}

static void the_selection_is_that_of_lm(void **state)
{
	size_t n_out, at = 0, terms[SHAPES] = { 0 };
	double *out;
	struct problem *all = draw_all("select", *state != NULL, &out, &n_out);

	for (struct problem *p = all; p < all + ROUNDS * KINDS; p++) {
		const struct kind *k = p->kind;
		struct regression g;

		regression_select(&g, p->x, k->m, p->y, k->n, REGRESSION_LEVEL, REGRESSION_OWN);
		assert_true(at + 2 + 4 * g.terms.n <= n_out);
		assert_selected(&g, out + at);
		at += 2 + 4 * g.terms.n;
		terms[k->shape] += g.terms.n;
		regression_release(&g);
	}
	assert_int_equal(at, n_out);
	assert_true(terms[PLAIN] > 30 && terms[SIZES] > 10);
	assert_true(terms[COLLINEAR] >= 20 && terms[USELESS] >= 10);
	free(out);
	free(all);
}

static void of_opposite_columns_the_growing_one_enters(void **state)
{
	static const double y[] = { 10, 20, 30, 40, 50 };
	static const double x[] = { 5, 4, 3, 2, 1, 1, 1, 1, 1, 1, 1, 2, 3, 4, 5 };
	struct regression g;

	regression_select(&g, x, 3, y, 5, REGRESSION_LEVEL, REGRESSION_OWN);
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

	for (size_t n = 0; n <= 6; n++) {
		regression_select(&g, x, 1, flat, n, REGRESSION_LEVEL, REGRESSION_OWN);
		assert_int_equal(g.terms.n, 0);
		assert_true(g.r2 == 0);
		regression_release(&g);
		regression_select(&g, NULL, 0, x, n, REGRESSION_LEVEL, REGRESSION_OWN);
		assert_int_equal(g.terms.n, 0);
		regression_release(&g);
		regression_select(&g, flat, 1, x, n, REGRESSION_LEVEL, REGRESSION_OWN);
		assert_int_equal(g.terms.n, 0);
		regression_release(&g);
	}
	regression_select(&g, x, 1, x, 2, REGRESSION_LEVEL, REGRESSION_OWN);
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

	for (int round = 0; round < 200; round++) {
		for (size_t i = 0; i < M * N; i++)
			x[i] = reference_random(&seed);
		for (size_t i = 0; i < N; i++)
			y[i] = reference_random(&seed);
		regression_select(&g, x, M, y, N, REGRESSION_LEVEL, REGRESSION_OWN);
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

/* Also where there is no R. */
#define KEPT(test)                                      \
	{                                               \
#test "_as_kept", test, NULL, NULL, "", \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_selection_is_that_of_numpy),
		cmocka_unit_test(the_lines_are_those_of_lm),
		KEPT(the_lines_are_those_of_lm),
		cmocka_unit_test(the_selection_is_that_of_lm),
		KEPT(the_selection_is_that_of_lm),
		cmocka_unit_test(of_opposite_columns_the_growing_one_enters),
		cmocka_unit_test(what_cannot_be_told_is_not),
		cmocka_unit_test(no_more_terms_than_values_allow),
		cmocka_unit_test(what_follows_the_superior_is_taken_out),
	};

	return unit_run(tests);
}
