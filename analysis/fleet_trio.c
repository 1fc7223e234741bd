/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/fleet_trio.h"

#include <math.h>

#include "analysis/fleet.h"

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

bool fleet_trio_is_more(const struct fleet_cell *cell)
{
	double one = cell->of_one[0].deviations, other = cell->of_one[1].deviations;

	return cell->deviations < 0 ? fmin(one, other) - cell->deviations > 1
				    : cell->deviations - fmax(one, other) > 1;
}
