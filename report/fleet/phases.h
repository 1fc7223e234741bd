/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The pairs of a fleet in each part of the day: which relations hold at which hours. */
#ifndef ISPOT_REPORT_FLEET_PHASES_H
#define ISPOT_REPORT_FLEET_PHASES_H

#include <stddef.h>

#include "analysis/fleet/fleet.h"
#include "analysis/fleet/phases.h"

struct fleet_view;
struct text;

/* Each part of the day, analyzed by itself. */
struct fleet_view_phases {
	const struct fleet_phases *phases;
	struct fleet *of; /* [phases->n] */
};

/*
 * Returns the view of one part of the day. Its base is NULL if the base of v does not run in that
 * part.
 */
struct fleet_view fleet_view_of_phase(const struct fleet_view *v, uint32_t phase);
/*
 * Adds the pairs of which one slows the other in some part of the day, with the change in every
 * part.
 */
void report_fleet_phases(const struct fleet_view *v, struct text *out);

#endif
