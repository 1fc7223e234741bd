/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compares the effect of two co-runners together with that of each without the other
 * (trio_rows.h). */
#ifndef ISPOT_ANALYSIS_FLEET_TRIO_H
#define ISPOT_ANALYSIS_FLEET_TRIO_H

#include <stdbool.h>

struct fleet;
struct fleet_base;
struct fleet_cell;
struct fleet_row;
struct fleet_rows;

/* Whether the row is of one co-runner with any others beside it. Such rows are only for
 * subtraction. */
bool fleet_trio_is_part(const struct fleet_row *row);
/* Sets median and samples of cell->of_one: the row of one co-runner less the row of the trio. */
void fleet_trio_fill(const struct fleet_rows *rows, const struct fleet_row *row,
		     struct fleet_cell *cell);
/* Whether both together change performance by one deviation more than each alone, in one
 * direction. */
bool fleet_trio_is_more(const struct fleet_cell *cell);
/*
 * Two trios of a base that share a co-runner also share samples, so the effect of one shows in the
 * other, too. Of the trios with an effect in one direction, the strongest keeps its verdict; those
 * that share a co-runner with a stronger one become FLEET_NOT_CERTAIN.
 */
void fleet_trio_drop_weaker(struct fleet *f, const struct fleet_base *base);

#endif
