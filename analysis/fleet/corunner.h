/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Who ran beside a sample? The rule of Kambadur, Moseley, Hank and Kim, "Measuring interference
 * between live datacenter applications" (SC 2012), section III-C: an application that ran on
 * another CPU for the whole of the sample, successive samples of it combined. What two CPUs share
 * decides the class, the closest first. Beyond the paper, for CPUs that take turns: an application
 * that had the sample's own CPU in the middle of it (class cpu).
 *
 * A sample counts once for each application and class, on however many CPUs that application ran.
 */
#ifndef ISPOT_ANALYSIS_FLEET_CORUNNER_H
#define ISPOT_ANALYSIS_FLEET_CORUNNER_H

#include <stdint.h>

#include "base/vec.h"

struct fleet_block;
struct fleet_run;
struct topology;

enum corunner_class {
	CORUNNER_ALL,	 /* not a class: every sample of the base, whoever ran beside it */
	CORUNNER_CPU,	 /* took turns on one CPU */
	CORUNNER_CORE,	 /* hardware threads of one core */
	CORUNNER_CACHE,	 /* cores that share the last cache */
	CORUNNER_SOCKET, /* caches of one socket */
	CORUNNER_OTHER,	 /* sockets of one machine */
	CORUNNER_TRIO,	 /* two applications at once (trio_rows.h); of no pair */
	CORUNNER_CLASSES,
};

extern const char *const corunner_class_names[CORUNNER_CLASSES];
/* Of a name; CORUNNER_CLASSES: there is no such class. */
enum corunner_class corunner_class_find(const char *name);

enum corunner_class corunner_class(const struct topology *t, uint32_t cpu, uint32_t other);

/* first … first + n - 1: samples of base, beside which app ran. */
typedef void (*corunner_visit)(void *ctx, const struct fleet_run *base, enum corunner_class class,
			       uint32_t app, uint32_t first, uint32_t n);

struct corunner_range {
	uint32_t class, app, first, end;
};

struct corunner_turn {
	uint32_t app;
	uint64_t ns;
};

struct corunners {
	struct {
		VEC(struct corunner_range)
	} ranges; /* of one run */
	struct {
		VEC(struct corunner_turn)
	} turns; /* of one sample */
	struct {
		VEC(uint32_t)
	} turn_of; /* by application: where in turns, if it is there */
	struct {
		VEC(uint32_t)
	} tellers; /* tracks that say who had their CPU */
	struct {
		VEC(uint32_t)
	} cursors;	/* by teller: the first run that may overlap */
	uint64_t alone; /* samples that had no co-runner, so far */
};

/* Every run that has samples, one after the other: each range of its samples once for every class
 * and application, in an order that depends on the block alone. */
void corunners_find(struct corunners *c, const struct fleet_block *b, const struct topology *t,
		    corunner_visit visit, void *ctx);
void corunners_release(struct corunners *c);

#endif
