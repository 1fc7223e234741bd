/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/fleet/fleet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/fleet/trio.h"
#include "analysis/stat/stats.h"
#include "base/mem.h"

const char *const fleet_effect_names[] = {
	[FLEET_TOO_FEW] = "too-few-samples", [FLEET_WITHIN] = "within-noise",
	[FLEET_NOT_CERTAIN] = "not-certain", [FLEET_NEGATIVE] = "negative",
	[FLEET_POSITIVE] = "positive",
};

#define BLOCKS_MIN 3 /* the variance between fewer blocks is not known */

/* The performance for a median of the indicator. For durations, it is the inverse: calls per
 * time. */
static double performance(const struct fleet *f, double median)
{
	return f->options.higher_is_better ? median : 1 / median;
}

static double change(const struct fleet *f, double from, double to)
{
	return performance(f, to) / performance(f, from) - 1;
}

/* ---- tests ---- */

/* Returns the p-value of the contrast by Student's t: its mean over the blocks against its
 * deviation from block to block. Blocks of unequal weight count as fewer blocks of equal weight. */
static double probability(const struct fleet_contrast *c)
{
	double w = (double)c->w, mean, variance, blocks;

	if (c->blocks < BLOCKS_MIN || !c->w)
		return NAN;
	blocks = w * w / (double)c->w2;
	mean = (double)c->wd / w;
	variance = ((double)c->wd2 - 2 * mean * (double)c->wd_w + mean * mean * (double)c->w2) /
		   (w * w);
	if (blocks < 2)
		return NAN;
	variance *= blocks / (blocks - 1);
	if (!(variance > 0))
		return c->wd ? 0 : 1;
	return 2 * stats_t_above(fabs(mean) / sqrt(variance), blocks - 1);
}

static int by_p(const void *a, const void *b)
{
	const struct fleet_cell *x = *(struct fleet_cell *const *)a,
				*y = *(struct fleet_cell *const *)b;

	return (x->p > y->p) - (x->p < y->p);
}

/* Sets q by Benjamini and Hochberg's correction over all pairs, or all trios, that have a
 * p-value. */
static uint32_t correct(struct fleet *f, bool trios)
{
	struct fleet_cell **tested = xcalloc(f->cells.n + 1, sizeof(*tested));
	double least = 1;
	uint32_t n = 0;

	vec_for_each (&f->cells, struct fleet_cell, cell)
		if (!isnan(cell->p) && (cell->class == CORUNNER_TRIO) == trios)
			tested[n++] = cell;
	qsort(tested, n, sizeof(*tested), by_p);
	for (uint32_t i = n; i-- > 0;) {
		least = fmin(least, tested[i]->p * n / (i + 1));
		tested[i]->q = least;
	}
	free(tested);
	return n;
}

/* ---- cells ---- */

static void judge(const struct fleet *f, const struct fleet_base *base, struct fleet_cell *cell)
{
	if (cell->tally->n < f->options.min_samples)
		cell->effect = FLEET_TOO_FEW;
	else if (!(fabs(cell->deviations) > 1))
		cell->effect = FLEET_WITHIN;
	else if (!(cell->q <= f->options.alpha) ||
		 !(cell->contrast / (cell->deviations < 0 ? -base->noise : base->noise) > 1) ||
		 (cell->class == CORUNNER_TRIO && !fleet_trio_is_more(cell)))
		cell->effect = FLEET_NOT_CERTAIN;
	else
		cell->effect = cell->deviations < 0 ? FLEET_NEGATIVE : FLEET_POSITIVE;
}

/* Improvement without some co-runners. share: of the base's samples that these co-runners have;
 * weighted: the sum of share times performance over them. */
static double without(const struct fleet *f, const struct fleet_base *base, double share,
		      double weighted)
{
	double usual = performance(f, base->median);

	return share < 1 ? (usual - weighted) / (1 - share) / usual - 1 : NAN;
}

/* A bucket's number is nearly a logarithm of its values: an octave has TALLY_PAGE buckets. */
static double contrast(const struct fleet *f, const struct fleet_contrast *c)
{
	double octaves = (double)c->wd / (double)c->w / FLEET_CONTRAST_UNIT / TALLY_PAGE;

	return c->w ? change(f, 1, exp2(octaves)) : NAN;
}

static void fill_one(const struct fleet *f, const struct fleet_base *base, struct fleet_one *one)
{
	bool enough = one->samples >= f->options.min_samples;

	one->median = enough ? one->median : NAN;
	one->change = change(f, base->median, one->median);
	one->deviations = one->change / base->noise;
}

static void fill_cell(const struct fleet *f, const struct fleet_base *base,
		      const struct fleet_row *row, struct fleet_cell *cell)
{
	cell->base = row->base;
	cell->corunner = row->corunner;
	cell->second = row->second;
	cell->class = row->class;
	cell->tally = &row->tally;
	cell->blocks = row->contrast.blocks;
	cell->share = (double)row->tally.n / (double)base->tally->n;
	cell->median = tally_quantile(&row->tally, 0.5);
	cell->change = change(f, base->median, cell->median);
	cell->deviations = cell->change / base->noise;
	cell->improvement =
		without(f, base, cell->share, cell->share * performance(f, cell->median));
	cell->contrast = contrast(f, &row->contrast);
	cell->p = cell->q = NAN;
	if (row->tally.n >= f->options.min_samples)
		cell->p = probability(&row->contrast);
	if (cell->class != CORUNNER_TRIO)
		return;
	fleet_trio_fill(f->rows, row, cell);
	fill_one(f, base, &cell->of_one[0]);
	fill_one(f, base, &cell->of_one[1]);
}

double fleet_improvement(const struct fleet *f, const struct fleet_base *base,
			 const struct fleet_cell *const *cells, unsigned n)
{
	double share = 0, weighted = 0;

	for (unsigned i = 0; i < n; i++) {
		share += cells[i]->share;
		weighted += cells[i]->share * performance(f, cells[i]->median);
	}
	return without(f, base, share, weighted);
}

/* ---- all ---- */

struct named {
	const char *name;
	uint32_t app;
};

static int by_name(const void *a, const void *b)
{
	const struct named *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* Returns the rank of each application's name in alphabetical order; the caller frees the array.
 * Ties are ordered by rank, because an application's number depends on the order of the input. */
static uint32_t *rank(const struct strtab *apps)
{
	struct named *names = xcalloc(apps->n + 1, sizeof(*names));
	uint32_t *ranks = xcalloc(apps->n + 1, sizeof(*ranks));

	for (uint32_t i = 0; i < apps->n; i++)
		names[i] = (struct named){ apps->strings[i], i };
	qsort(names, apps->n, sizeof(*names), by_name);
	for (uint32_t i = 0; i < apps->n; i++)
		ranks[names[i].app] = i;
	free(names);
	return ranks;
}

static int most_first(const void *a, const void *b)
{
	const struct fleet_base *x = a, *y = b;

	if (x->tally->n != y->tally->n)
		return x->tally->n > y->tally->n ? -1 : 1;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

static void find_bases(struct fleet *f, const uint32_t *ranks)
{
	vec_for_each (&f->rows->rows, const struct fleet_row, row) {
		struct fleet_base *base;

		if (row->class != CORUNNER_ALL)
			continue;
		base = vec_add(&f->bases);
		base->app = row->base;
		base->rank = ranks[row->base];
		base->tally = &row->tally;
		base->median = tally_quantile(&row->tally, 0.5);
		base->mean = tally_mean(&row->tally);
		base->deviation = tally_deviation(&row->tally);
		base->noise = (f->options.higher_is_better ? base->deviation
							   : tally_inverse_deviation(&row->tally)) /
			      performance(f, base->median);
	}
	vec_sort(&f->bases, most_first);
}

struct cell_row {
	struct fleet_cell cell;
	uint32_t base;	   /* index in fleet.bases */
	uint32_t ranks[2]; /* of both co-runners */
};

struct cell_rows {
	VEC(struct cell_row)
};

static int by_base(const void *a, const void *b)
{
	const struct cell_row *x = a, *y = b;

	if (x->base != y->base)
		return x->base < y->base ? -1 : 1;
	if (x->cell.class != y->cell.class)
		return x->cell.class < y->cell.class ? -1 : 1;
	if (x->cell.change < y->cell.change || x->cell.change > y->cell.change)
		return x->cell.change < y->cell.change ? -1 : 1;
	if (isnan(x->cell.change) != isnan(y->cell.change))
		return isnan(x->cell.change) ? 1 : -1;
	if (x->ranks[0] != y->ranks[0])
		return x->ranks[0] < y->ranks[0] ? -1 : 1;
	return (x->ranks[1] > y->ranks[1]) - (x->ranks[1] < y->ranks[1]);
}

static void find_cells(struct fleet *f, const uint32_t *base_of, const uint32_t *ranks,
		       struct cell_rows *rows)
{
	vec_for_each (&f->rows->rows, const struct fleet_row, row) {
		uint32_t base = base_of[row->base];
		struct cell_row *found;

		if (row->class == CORUNNER_ALL || base == MAP_NONE || fleet_trio_is_part(row))
			continue;
		found = vec_add(rows);
		found->base = base;
		found->ranks[0] = ranks[row->corunner];
		found->ranks[1] = ranks[row->second];
		fill_cell(f, &f->bases.data[base], row, &found->cell);
	}
	vec_sort(rows, by_base);
}

/* slowed[app]: how many bases the application slows; has room for all applications. */
static void judge_all(struct fleet *f, const struct cell_rows *rows, uint32_t *slowed)
{
	for (size_t i = 0; i < rows->n; i++) {
		struct fleet_cell *cell = &f->cells.data[i];
		struct fleet_base *base = &f->bases.data[rows->data[i].base];

		judge(f, base, cell);
		if (cell->class == CORUNNER_TRIO)
			continue;
		base->negative += cell->effect == FLEET_NEGATIVE;
		base->positive += cell->effect == FLEET_POSITIVE;
		slowed[cell->corunner] += cell->effect == FLEET_NEGATIVE;
	}
	vec_for_each (&f->bases, const struct fleet_base, base)
		fleet_trio_drop_weaker(f, base);
}

static int most_slowed_first(const void *a, const void *b)
{
	const struct fleet_antagonist *x = a, *y = b;

	if (x->slowed != y->slowed)
		return x->slowed > y->slowed ? -1 : 1;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

static void find_antagonists(struct fleet *f, const uint32_t *slowed, const uint32_t *ranks)
{
	vec_for_each (&f->bases, struct fleet_base, base)
		base->slowed = slowed[base->app];
	for (uint32_t app = 0; app < f->rows->apps.n; app++)
		if (slowed[app])
			*vec_add(&f->antagonists) =
				(struct fleet_antagonist){ app, ranks[app], slowed[app] };
	vec_sort(&f->antagonists, most_slowed_first);
}

static uint32_t *number_bases(const struct fleet *f)
{
	uint32_t *base_of = xmalloc((f->rows->apps.n + 1) * sizeof(*base_of));

	memset(base_of, 0xff, (f->rows->apps.n + 1) * sizeof(*base_of));
	for (uint32_t i = 0; i < f->bases.n; i++)
		base_of[f->bases.data[i].app] = i;
	return base_of;
}

void fleet_init(struct fleet *f, const struct fleet_rows *rows, const struct fleet_options *o)
{
	struct cell_rows found = { 0 };
	uint32_t *base_of, *ranks = rank(&rows->apps);
	uint32_t *slowed = xcalloc(rows->apps.n + 1, sizeof(*slowed));

	*f = (struct fleet){ .options = *o, .rows = rows };
	find_bases(f, ranks);
	base_of = number_bases(f);
	find_cells(f, base_of, ranks, &found);
	vec_for_each (&found, const struct cell_row, row) {
		struct fleet_base *base = &f->bases.data[row->base];

		base->first = base->n ? base->first : (uint32_t)f->cells.n;
		base->n++;
		*vec_add(&f->cells) = row->cell;
	}
	f->tested = correct(f, false);
	f->trios_tested = correct(f, true);
	judge_all(f, &found, slowed);
	find_antagonists(f, slowed, ranks);
	vec_release(&found);
	free(slowed);
	free(base_of);
	free(ranks);
}

void fleet_release(struct fleet *f)
{
	vec_release(&f->bases);
	vec_release(&f->cells);
	vec_release(&f->antagonists);
}

const struct fleet_base *fleet_find(const struct fleet *f, const char *app)
{
	vec_for_each (&f->bases, const struct fleet_base, base)
		if (!strcmp(strtab_get(&f->rows->apps, base->app), app))
			return base;
	return NULL;
}

const struct fleet_cell *fleet_cell_of(const struct fleet *f, const struct fleet_base *base,
				       const char *corunner, enum corunner_class class)
{
	const struct fleet_cell *cell = f->cells.data + base->first;

	for (uint32_t i = 0; i < base->n; i++, cell++)
		if (cell->class == class &&
		    !strcmp(strtab_get(&f->rows->apps, cell->corunner), corunner))
			return cell;
	return NULL;
}
