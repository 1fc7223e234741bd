/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How many CPUs of a block were busy and how many applications ran at once, and for how long. */
#ifndef ISPOT_ANALYSIS_FLEET_CROWD_H
#define ISPOT_ANALYSIS_FLEET_CROWD_H

#include <stdint.h>

struct fleet_block;
struct fleet_rows;

/* Calls visit with the time for which the number of a kind (enum fleet_crowd_kind) was this one. */
void fleet_crowd_find(const struct fleet_block *b,
		      void (*visit)(void *ctx, uint32_t kind, uint32_t number, uint64_t ns),
		      void *ctx);

/* Over the time of all rows: mean and median are weighted by time; all 0 without rows. */
struct fleet_crowd_summary {
	double mean;
	uint32_t median, most;
	uint64_t ns;
};
struct fleet_crowd_summary fleet_crowd_sum(const struct fleet_rows *rows, uint32_t kind);

#endif
