/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which two applications ran concurrently with a sample, together (the paper of corunner.h, section
 * VI-A: two co-runners may slow an application together although neither does alone). Both ran for
 * the whole of the sample on CPUs that share the last-level cache, or more, with the sample's CPU.
 * Each application is also visited paired with itself, for all samples beside it: subtracting the
 * samples of a pair leaves those beside one application without the other.
 */
#ifndef ISPOT_ANALYSIS_FLEET_TRIO_ROWS_H
#define ISPOT_ANALYSIS_FLEET_TRIO_ROWS_H

#include <stdint.h>

#include "analysis/fleet/corunner.h"

struct trios {
	struct {
		VEC(struct corunner_range)
	} near; /* of one run */
	struct {
		VEC(uint32_t)
	} firsts; /* indices in near where each application's ranges begin; the last entry is
		   * near's length */
};

/* Both app and second ran concurrently with the samples first to first + n - 1 of base. */
typedef void (*trio_visit)(void *ctx, const struct fleet_run *base, uint32_t app, uint32_t second,
			   uint32_t first, uint32_t n);

/* Adds a range that corunners_find() found; a class that is too far is ignored. */
void trios_add(struct trios *t, const struct corunner_range *range);
/* Visits the trios of a run after its last range, app at most second, and forgets the ranges. */
void trios_find(struct trios *t, const struct fleet_run *base, trio_visit visit, void *ctx);
void trios_release(struct trios *t);

#endif
