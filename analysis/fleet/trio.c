/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/fleet/trio.h"

#include <math.h>

#include "analysis/fleet/fleet.h"

bool fleet_trio_is_part(const struct fleet_row *row)
{
	return row->class == CORUNNER_TRIO && row->corunner == row->second;
}

static void fill_one(const struct fleet_rows *rows, const struct fleet_row *row, uint32_t app,
		     struct fleet_one *one)
{
	const struct fleet_row *part = fleet_rows_find_trio(rows, row->base, app, row->stratum);
	struct tally rest = { 0 };

	*one = (struct fleet_one){ .median = NAN };
	if (!part)
		return;
	tally_merge(&rest, &part->tally);
	tally_subtract(&rest, &row->tally);
	one->samples = rest.n;
	one->median = tally_quantile(&rest, 0.5);
	tally_release(&rest);
}

void fleet_trio_fill(const struct fleet_rows *rows, const struct fleet_row *row,
		     struct fleet_cell *cell)
{
	fill_one(rows, row, row->corunner, &cell->of_one[0]);
	fill_one(rows, row, row->second, &cell->of_one[1]);
}

static int strongest_first(const void *a, const void *b)
{
	const struct fleet_cell *x = *(struct fleet_cell *const *)a,
				*y = *(struct fleet_cell *const *)b;
	double by = fabs(y->deviations) - fabs(x->deviations);

	/* equal cells keep their order, which is that of the names */
	return by ? (by > 0) - (by < 0) : (x > y) - (x < y);
}

static bool shares(const struct fleet_cell *a, const struct fleet_cell *b)
{
	return a->corunner == b->corunner || a->corunner == b->second || a->second == b->corunner ||
	       a->second == b->second;
}

void fleet_trio_drop_weaker(struct fleet *f, const struct fleet_base *base)
{
	struct {
		VEC(struct fleet_cell *)
	} said = { 0 };

	for (uint32_t i = base->first; i < base->first + base->n; i++) {
		struct fleet_cell *cell = &f->cells.data[i];

		if (cell->class == CORUNNER_TRIO &&
		    (cell->effect == FLEET_NEGATIVE || cell->effect == FLEET_POSITIVE))
			*vec_add(&said) = cell;
	}
	vec_sort(&said, strongest_first);
	for (size_t i = 0; i < said.n; i++)
		for (size_t k = 0; k < i; k++)
			if (said.data[k]->effect == said.data[i]->effect &&
			    shares(said.data[k], said.data[i])) {
				said.data[i]->effect = FLEET_NOT_CERTAIN;
				break;
			}
	vec_release(&said);
}

bool fleet_trio_is_more(const struct fleet_cell *cell)
{
	double one = cell->of_one[0].deviations, other = cell->of_one[1].deviations;

	return cell->deviations < 0 ? fmin(one, other) - cell->deviations > 1
				    : cell->deviations - fmax(one, other) > 1;
}
