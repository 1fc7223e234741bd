/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What two co-runners do together against what each does without the other (trio_rows.h). */
#ifndef ISPOT_ANALYSIS_FLEET_TRIO_H
#define ISPOT_ANALYSIS_FLEET_TRIO_H

#include <stdbool.h>

struct fleet;
struct fleet_base;
struct fleet_cell;
struct fleet_row;
struct fleet_rows;

/* Only to be subtracted: what an application does, whoever else is there. */
bool fleet_trio_is_part(const struct fleet_row *row);
/* The medians and numbers of samples of cell->of_one, from the cell's own row and the parts. */
void fleet_trio_fill(const struct fleet_rows *rows, const struct fleet_row *row,
		     struct fleet_cell *cell);
/* Whether they change performance by a noise more than either does alone, in one direction. */
bool fleet_trio_is_more(const struct fleet_cell *cell);
/*
 * Where two trios of a base share a co-runner, what the third of the one does is seen beside the
 * third of the other, too, as often as it was near then: of those that are said to interfere in one
 * direction the strongest stands, and those that share a co-runner with one that stands are not
 * certain.
 */
void fleet_trio_keep_strongest(struct fleet *f, const struct fleet_base *base);

#endif
