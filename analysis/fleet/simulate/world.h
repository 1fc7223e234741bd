/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A made-up fleet: its applications, how popular, fast and noisy each is, and which of them slow
 * which when they share a core, or which two together when they share a cache. All of it follows
 * from the seed, and so does every sample (simulate.h).
 */
#ifndef ISPOT_ANALYSIS_FLEET_SIMULATE_WORLD_H
#define ISPOT_ANALYSIS_FLEET_SIMULATE_WORLD_H

#include <stdint.h>

#include "base/hash.h"
#include "base/vec.h"

/* Random numbers (splitmix64): the same everywhere. */
struct dice {
	uint64_t state;
};
uint32_t dice_below(struct dice *d, uint32_t n);
double dice_unit(struct dice *d);   /* 0 … 1 */
double dice_normal(struct dice *d); /* mean 0, deviation 1, within 3.5 */

struct world_app {
	char name[16];
	double ipc, noise; /* deviation of its samples, relative */
	double popularity; /* sum of its and all before it */
};

struct world_pair {
	uint32_t base, corunner;
	double loss; /* share of its IPC that the base loses beside the co-runner */
};

struct world_trio {
	uint32_t base, one, other; /* one: its number is lower, and its name before the other's */
	double loss;
};

struct world {
	struct {
		VEC(struct world_app)
	} apps;
	struct {
		VEC(struct world_pair)
	} pairs;
	struct {
		VEC(struct world_trio)
	} trios;
	struct map by_pair;
};

#define WORLD_MACHINE_NOISE  0.03 /* one machine against another, relative */
#define WORLD_INSTANCE_NOISE 0.03 /* one application on one machine: its input */
#define WORLD_HOUR_NOISE     0.02 /* one second of a machine against another */

/* interferers: pairs among the applications that run most, of which a co-runner slows the base by
 * 3.5 times what the base's IPC deviates by itself; trios: of which two together do. */
struct world_options {
	uint64_t seed;
	uint32_t apps, interferers, trios;
};
void world_init(struct world *w, const struct world_options *o);
uint32_t world_pick(const struct world *w, struct dice *d); /* an application, popular ones often */
double world_loss(const struct world *w, uint32_t base, uint32_t corunner);
void world_release(struct world *w);

#endif
