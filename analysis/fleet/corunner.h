/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which applications ran concurrently with a sample. The rule is that of Kambadur, Moseley, Hank
 * and Kim, "Measuring interference between live datacenter applications" (SC 2012), section III-C:
 * a co-runner is an application that ran on another CPU for the whole of the sample, with
 * successive samples of that application taken together. The class of a co-runner is the closest
 * resource that the two CPUs share. Beyond the paper, for CPUs that applications take turns on: an
 * application that had the sample's own CPU in the middle of the sample (class cpu) is a co-runner,
 * too.
 *
 * A sample counts once for each application and class, on however many CPUs that application ran.
 */
#ifndef ISPOT_ANALYSIS_FLEET_CORUNNER_H
#define ISPOT_ANALYSIS_FLEET_CORUNNER_H

#include <stdint.h>

#include "base/vec.h"
#include "trace/fleet/block.h"

struct topology;

enum corunner_class {
	CORUNNER_ALL,	 /* no class: all samples of the base, with any co-runner or none */
	CORUNNER_CPU,	 /* took turns on one CPU */
	CORUNNER_CORE,	 /* hardware threads of one core */
	CORUNNER_CACHE,	 /* cores that share the last-level cache */
	CORUNNER_SOCKET, /* caches of one socket */
	CORUNNER_OTHER,	 /* sockets of one machine */
	CORUNNER_TRIO,	 /* two co-runners at once (trio_rows.h); never the class of a pair */
	CORUNNER_CLASSES,
};

extern const char *const corunner_class_names[CORUNNER_CLASSES];
/* Returns the class of this name, or CORUNNER_CLASSES if there is none. */
enum corunner_class corunner_class_find(const char *name);

enum corunner_class corunner_class(const struct topology *t, uint32_t cpu, uint32_t other);

/* app ran concurrently with the samples first to first + n - 1 of base. */
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
	} turn_of; /* [app]: index in turns; valid if that turn is of app */
	struct {
		VEC(uint32_t)
	} tellers; /* tracks that show which application had the CPU */
	struct {
		VEC(uint32_t)
	} cursors;			  /* [teller]: the first run that may overlap */
	uint64_t alone[FLEET_INDICATORS]; /* samples of each indicator without a co-runner, so
					   * far */
};

/* Visits the runs that have samples, one after the other. For each class and co-runner, each range
 * of a run's samples is visited once, in an order that depends on the block alone. */
void corunners_find(struct corunners *c, const struct fleet_block *b, const struct topology *t,
		    corunner_visit visit, void *ctx);
void corunners_release(struct corunners *c);

#endif
