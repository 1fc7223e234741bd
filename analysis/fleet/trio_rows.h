/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which two applications ran beside a sample together? (The paper of corunner.h, section VI-A:
 * neither of two co-runners need slow an application, and both together may.) Both ran for the
 * whole of the sample on CPUs that share the last cache with its own, or more. An application by
 * itself is visited with itself: whatever the others were, so that what it does without one of
 * them is the difference of the two.
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
	} firsts; /* in near: where each application's begin; its length ends them */
};

/* first … first + n - 1: samples of base, beside which both ran. */
typedef void (*trio_visit)(void *ctx, const struct fleet_run *base, uint32_t app, uint32_t second,
			   uint32_t first, uint32_t n);

/* What corunners_find() says of a run, one after the other; classes that are too far are not kept.
 */
void trios_take(struct trios *t, const struct corunner_range *range);
/* At the run's end: its trios, app at most second. Forgets the ranges. */
void trios_find(struct trios *t, const struct fleet_run *base, trio_visit visit, void *ctx);
void trios_release(struct trios *t);

#endif
