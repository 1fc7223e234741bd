/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A simulated fleet: its applications; the popularity, speed and noise of each; which applications
 * slow which others when they share a core; and which two slow another one together when they share
 * a cache. All of this, and every sample (simulate.h), depends only on the seed.
 */
#ifndef ISPOT_ANALYSIS_FLEET_SIMULATE_WORLD_H
#define ISPOT_ANALYSIS_FLEET_SIMULATE_WORLD_H

#include <stdint.h>

#include "base/hash.h"
#include "base/vec.h"

/* Random numbers (splitmix64), which are the same on every machine. */
struct dice {
	uint64_t state;
};
uint32_t dice_below(struct dice *d, uint32_t n);
double dice_unit(struct dice *d);   /* 0 … 1 */
double dice_normal(struct dice *d); /* mean 0, deviation 1, within 3.5 */

struct world_app {
	char name[16];
	double ipc, noise; /* noise: relative deviation of its samples */
	double popularity; /* sum of its own popularity and those of all applications before it */
};

struct world_pair {
	uint32_t base, corunner;
	double loss; /* share of the base's IPC that is lost beside the co-runner */
};

struct world_trio {
	uint32_t base, one, other; /* one has the lower number and the earlier name */
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

#define WORLD_MACHINE_NOISE  0.03 /* relative deviation between machines */
#define WORLD_INSTANCE_NOISE 0.03 /* of an application between machines, due to its input */
#define WORLD_HOUR_NOISE     0.02 /* of a machine between seconds */

/*
 * interferers: number of pairs, among the applications that run most, in which the co-runner slows
 * the base by 3.5 times the deviation of the base's IPC. trios: number of trios in which the two
 * co-runners do so together.
 */
struct world_options {
	uint64_t seed;
	uint32_t apps, interferers, trios;
};
void world_init(struct world *w, const struct world_options *o);
uint32_t world_pick(const struct world *w, struct dice *d); /* returns a random application by
							     * popularity */
double world_loss(const struct world *w, uint32_t base, uint32_t corunner);
void world_release(struct world *w);

#endif
