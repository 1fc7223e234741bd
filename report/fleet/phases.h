/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which relations hold at which hours: the pairs of a fleet in each part of the day. */
#ifndef ISPOT_REPORT_FLEET_PHASES_H
#define ISPOT_REPORT_FLEET_PHASES_H

#include <stddef.h>

#include "analysis/fleet/fleet.h"
#include "analysis/fleet/phases.h"

struct fleet_view;
struct text;

/* Each part of the day, analysed by itself. */
struct fleet_view_phases {
	const struct fleet_phases *phases;
	struct fleet *of; /* [phases->n] */
};

/* The view of one of them; its base is NULL where the view's is not in it. */
struct fleet_view fleet_view_of_phase(const struct fleet_view *v, uint32_t phase);
/* Pairs of which one slows the other in some part of the day, and what it does in the others. */
void report_fleet_phases(const struct fleet_view *v, struct text *out);

#endif
