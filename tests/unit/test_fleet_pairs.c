/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is said of pairs whose rows are known. */
#include "unit.h"

#include <math.h>
#include <stdio.h>

#include "analysis/fleet/fleet.h"

/* ---- the paper's numbers ---- */

static void put(struct fleet_rows *r, const char *base, const char *corunner,
		enum corunner_class class, uint32_t value, int n)
{
	struct fleet_row *row =
		fleet_rows_get(r, strtab_add(&r->apps, base), strtab_add(&r->apps, corunner), class,
			       fleet_rows_stratum(r, 0, 0));
	uint16_t bucket = tally_bucket(value);

	for (int i = 0; i < n; i++)
		tally_add(&row->tally, &value, &bucket, 1);
}

/*
 * Section V-A: of streetview's samples a part is beside bigtable, another beside search, and it is
 * slower there. The medians and shares are ours, as the paper does not print its own; what it says
 * follows from such: 1.3 % without bigtable, 2.2 % without search either.
 */
static void streetview_without_bigtable_and_search(void **state)
{
	const struct fleet_options o = { .min_samples = 1000,
					 .alpha = 0.05,
					 .higher_is_better = true };
	const struct fleet_cell *without[2];
	const struct fleet_base *streetview;
	struct fleet_rows rows = { 0 };
	struct fleet f;
	double gain;

	/* values below 128 have a bucket each, so medians are exact */
	put(&rows, "streetview", "streetview", CORUNNER_ALL, 100, 88980);
	put(&rows, "streetview", "streetview", CORUNNER_ALL, 80, 6100);
	put(&rows, "streetview", "streetview", CORUNNER_ALL, 85, 4920);
	put(&rows, "streetview", "bigtable", CORUNNER_CORE, 80, 6100);
	put(&rows, "streetview", "search", CORUNNER_CORE, 85, 4920);
	put(&rows, "streetview", "rare", CORUNNER_CORE, 20, 999);
	fleet_init(&f, &rows, &o);
	streetview = fleet_find(&f, "streetview");
	without[0] = fleet_cell_of(&f, streetview, "bigtable", CORUNNER_CORE);
	without[1] = fleet_cell_of(&f, streetview, "search", CORUNNER_CORE);
	gain = fleet_improvement(&f, streetview, without, 1);
	assert_true(fabs(gain - (100 - 0.061 * 80) / (1 - 0.061) / 100 + 1) < 1e-12);
	assert_true(fabs(100 * gain - 1.3) < 0.05);
	assert_true(fabs(without[0]->improvement - gain) < 1e-12);
	gain = fleet_improvement(&f, streetview, without, 2);
	assert_true(fabs(100 * gain - 2.2) < 0.05);
	assert_int_equal(fleet_cell_of(&f, streetview, "rare", CORUNNER_CORE)->effect,
			 FLEET_TOO_FEW);
	/* beyond the noise, but from no contrast: nothing certain */
	assert_int_equal(without[0]->effect, FLEET_NOT_CERTAIN);
	fleet_release(&f);
	fleet_rows_release(&rows);
}

/* ---- chance ---- */

#define TESTED 40

/* Ten blocks of equal weight, an octave slower in the mean, with that deviation in octaves. */
static struct fleet_contrast contrast_of(double deviation)
{
	const double octave = TALLY_PAGE * FLEET_CONTRAST_UNIT, d = -octave, s = deviation * octave;

	return (struct fleet_contrast){ .blocks = 10,
					.w = 10,
					.wd = (fleet_i128)(10 * d),
					.w2 = 10,
					.wd_w = (fleet_i128)(10 * d),
					.wd2 = (fleet_i128)(10 * (d * d + s * s)) };
}

/* Of all that are tested at once, those that are no more probable than this one. */
static double corrected(const struct fleet *f, const struct fleet_cell *cell)
{
	double least = 1;

	vec_for_each (&f->cells, const struct fleet_cell, other) {
		int rank = 0;

		if (!(other->p >= cell->p))
			continue;
		vec_for_each (&f->cells, const struct fleet_cell, c)
			rank += c->p <= other->p;
		least = fmin(least, other->p * TESTED / rank);
	}
	return least;
}

/* Benjamini and Hochberg; what is beyond the noise by chance alone is not said to interfere. */
static void many_tests_are_corrected_for(void **state)
{
	const struct fleet_options o = { .min_samples = 1000,
					 .alpha = 0.05,
					 .higher_is_better = true };
	int counts[FLEET_POSITIVE + 1] = { 0 }, saved = 0;
	struct fleet_rows rows = { 0 };
	struct fleet f;
	char name[24];

	put(&rows, "base", "base", CORUNNER_ALL, 100, 500000);
	put(&rows, "base", "base", CORUNNER_ALL, 98, 100000);
	for (int i = 0; i <= TESTED; i++) { /* the last one is too rare to be tested */
		snprintf(name, sizeof(name), "other%02d", i);
		put(&rows, "base", name, CORUNNER_CORE, 50, i < TESTED ? 1000 : 999);
		vec_last(&rows.rows)->contrast = contrast_of(i < TESTED ? 0.3 + 0.2 * i : 0.1);
	}
	fleet_init(&f, &rows, &o);
	assert_int_equal(f.tested, TESTED);
	assert_int_equal(f.cells.n, TESTED + 1);
	vec_for_each (&f.cells, const struct fleet_cell, cell) {
		counts[cell->effect]++;
		if (isnan(cell->p))
			continue;
		assert_true(fabs(cell->q - corrected(&f, cell)) < 1e-12);
		assert_int_equal(cell->effect,
				 cell->q <= o.alpha ? FLEET_NEGATIVE : FLEET_NOT_CERTAIN);
		saved += cell->p <= o.alpha && cell->q > o.alpha;
	}
	assert_int_equal(counts[FLEET_TOO_FEW], 1);
	assert_true(counts[FLEET_NEGATIVE] > 2 && counts[FLEET_NOT_CERTAIN] > 2 && saved > 0);
	fleet_release(&f);
	fleet_rows_release(&rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(streetview_without_bigtable_and_search),
		cmocka_unit_test(many_tests_are_corrected_for),
	};

	return unit_run(tests);
}
