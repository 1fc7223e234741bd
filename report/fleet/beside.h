/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One indicator beside another (section VI-C of the paper): of one database, whose blocks have
 * both, or of two, recorded at different times or in different ways. Their pairs are matched by
 * base, co-runner and class. What slows an application by both is no artefact of one of them. If
 * both were measured at the same times, single occurrences are matched as well, with all else that
 * ran on the machine: each block says by both how far the co-runner changes the base.
 */
#ifndef ISPOT_REPORT_FLEET_BESIDE_H
#define ISPOT_REPORT_FLEET_BESIDE_H

#include <stdint.h>

struct fleet;
struct fleet_cell;
struct fleet_rows;
struct fleet_store_meta;
struct fleet_view;
struct json;
struct text;

struct fleet_beside {
	const struct fleet *fleet;
	const struct fleet_store_meta *meta;
	const struct fleet_rows *matches; /* of fleet_store_load_matches(); NULL: other databases'
					   * occurrences are others */
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

/* What both indicators say of a pair, block by block. */
struct fleet_beside_match {
	uint64_t blocks;	 /* that both have a contrast in */
	double contrast, beside; /* changes of performance against the base's other samples of
				  * these blocks, by either; NAN: no block */
	double correlation;	 /* of the contrasts over these blocks; NAN: too few */
};
struct fleet_beside_match fleet_beside_match(const struct fleet_view *v,
					     const struct fleet_cell *cell);

/* Pairs that are slowed by either, and by how much by both. */
void report_fleet_beside(const struct fleet_view *v, struct text *out);
/* Sets the members of a match. */
void report_fleet_match_json(const struct fleet_view *v, const struct fleet_cell *cell,
			     struct json *pair);
/* The other indicator, and how far the two agree. */
struct json *report_fleet_beside_json(const struct fleet_view *v);

#endif
