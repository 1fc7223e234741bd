/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/fleet/simulate/world.h"

#include <math.h>
#include <stdio.h>

#define BUSIEST	       24 /* interferers are among so many most popular applications */
#define PAIRS_OF_BASE  2
#define LOSS_IN_NOISES 3.5
#define LOSS_MAX       0.7

static uint64_t dice_u64(struct dice *d)
{
	uint64_t x = d->state += 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

uint32_t dice_below(struct dice *d, uint32_t n)
{
	return (uint32_t)((dice_u64(d) >> 32) * n >> 32);
}

double dice_unit(struct dice *d)
{
	return (double)(dice_u64(d) >> 11) * 0x1p-53;
}

/* Approximates the normal distribution by the sum of four uniform numbers, which needs no
 * logarithm. */
double dice_normal(struct dice *d)
{
	uint64_t x = dice_u64(d);
	uint64_t sum = (x & 0xffff) + (x >> 16 & 0xffff) + (x >> 32 & 0xffff) + (x >> 48);

	return ((double)sum / 65535 - 2) * 1.7320508075688772;
}

static void make_apps(struct world *w, struct dice *d, uint32_t n)
{
	double popularity = 0;

	for (uint32_t i = 0; i < n; i++) {
		struct world_app *app = vec_add(&w->apps);

		snprintf(app->name, sizeof(app->name), "app%04u", i + 1);
		app->ipc = 0.5 + 1.5 * dice_unit(d);
		app->noise = 0.04 + 0.06 * dice_unit(d);
		popularity += pow(i + 1, -0.8);
		app->popularity = popularity;
	}
}

static uint64_t pair_key(uint32_t base, uint32_t corunner)
{
	return (uint64_t)base << 32 | corunner;
}

static uint32_t pairs_of(const struct world *w, uint32_t base)
{
	uint32_t n = 0;

	vec_for_each (&w->pairs, const struct world_pair, p)
		n += p->base == base;
	return n;
}

static double planted_loss(const struct world *w, uint32_t base)
{
	double own = w->apps.data[base].noise;
	double noise = sqrt(own * own + WORLD_MACHINE_NOISE * WORLD_MACHINE_NOISE +
			    WORLD_INSTANCE_NOISE * WORLD_INSTANCE_NOISE +
			    WORLD_HOUR_NOISE * WORLD_HOUR_NOISE);

	return fmin(LOSS_IN_NOISES * noise, LOSS_MAX);
}

static void plant(struct world *w, uint32_t base, uint32_t corunner)
{
	map_put(&w->by_pair, pair_key(base, corunner), (uint32_t)w->pairs.n);
	*vec_add(&w->pairs) = (struct world_pair){ base, corunner, planted_loss(w, base) };
}

static bool has_trio(const struct world *w, uint32_t base)
{
	vec_for_each (&w->trios, const struct world_trio, t)
		if (t->base == base)
			return true;
	return false;
}

/* Chooses trios of three different applications, at most one for each base. */
static void plant_trios(struct world *w, struct dice *d, uint32_t busiest, uint32_t n)
{
	n = busiest < 3 ? 0 : n < busiest ? n : busiest;
	while (w->trios.n < n) {
		uint32_t base = dice_below(d, busiest), one = dice_below(d, busiest),
			 other = dice_below(d, busiest);

		if (base != one && base != other && one < other && !has_trio(w, base))
			*vec_add(&w->trios) =
				(struct world_trio){ base, one, other, planted_loss(w, base) };
	}
}

void world_init(struct world *w, const struct world_options *o)
{
	struct dice d = { o->seed };
	uint32_t busiest = o->apps < BUSIEST ? o->apps : BUSIEST;
	uint32_t most = busiest > 1 ? busiest * PAIRS_OF_BASE / 2 : 0;
	uint32_t interferers = o->interferers < most ? o->interferers : most;

	*w = (struct world){ 0 };
	make_apps(w, &d, o->apps);
	while (w->pairs.n < interferers) {
		uint32_t base = dice_below(&d, busiest), corunner = dice_below(&d, busiest);

		if (base != corunner && pairs_of(w, base) < PAIRS_OF_BASE &&
		    !(world_loss(w, base, corunner) > 0))
			plant(w, base, corunner);
	}
	plant_trios(w, &d, busiest, o->trios);
}

uint32_t world_pick(const struct world *w, struct dice *d)
{
	double at = dice_unit(d) * vec_last(&w->apps)->popularity;

	return (uint32_t)vec_search(i, 0, w->apps.n - 1, w->apps.data[i].popularity <= at);
}

double world_loss(const struct world *w, uint32_t base, uint32_t corunner)
{
	uint32_t i = map_get(&w->by_pair, pair_key(base, corunner));

	return i == MAP_NONE ? 0 : w->pairs.data[i].loss;
}

void world_release(struct world *w)
{
	vec_release(&w->apps);
	vec_release(&w->pairs);
	vec_release(&w->trios);
	map_release(&w->by_pair);
}
