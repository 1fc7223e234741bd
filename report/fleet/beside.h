/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One indicator beside another (section VI-C of the paper): two databases, recorded at different
 * times or in different ways, their pairs matched by base, co-runner and class. What slows an
 * application by both is no artefact of one of them.
 */
#ifndef ISPOT_REPORT_FLEET_BESIDE_H
#define ISPOT_REPORT_FLEET_BESIDE_H

#include <stdint.h>

struct fleet;
struct fleet_cell;
struct fleet_store_meta;
struct fleet_view;
struct json;
struct text;

struct fleet_beside {
	const struct fleet *fleet;
	const struct fleet_store_meta *meta;
};

/* The same pair in the other database; NULL: it is not there. */
const struct fleet_cell *fleet_beside_cell(const struct fleet_view *v,
					   const struct fleet_cell *cell);

struct fleet_beside_summary {
	uint32_t pairs;	    /* that have enough samples in both */
	uint32_t both, one; /* slowed beyond the noise by both indicators; by one of them */
	double correlation; /* of the changes of performance, over the pairs; NAN: too few */
};
struct fleet_beside_summary fleet_beside_sum(const struct fleet_view *v);

/* Pairs that are slowed by either, and by how much by both. */
void report_fleet_beside(const struct fleet_view *v, struct text *out);
/* The other indicator, and how far the two agree. */
struct json *report_fleet_beside_json(const struct fleet_view *v);

#endif
