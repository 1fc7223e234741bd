/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Between blocks.c, which reads the code, and flow.c, which counts. */
#ifndef ISPOT_PROBES_EDGES_FLOW_INTERNAL_H
#define ISPOT_PROBES_EDGES_FLOW_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/vec.h"
#include "probes/edges/flow.h"

#define NO_ADDRESS UINT64_MAX

struct dso;
struct dso_cache;

struct turn {
	uint64_t from, to;
};

/* From the end of one block to the next one. */
struct way {
	uint32_t to;	   /* block */
	uint32_t first, n; /* of turns */
};

/* A call that a block makes each time. */
struct site {
	uint64_t address, target;
	uint32_t to; /* the first block of what it calls; EDGES_NOWHERE: not known */
};

struct block {
	struct {
		VEC(struct way)
	} ways;
	struct {
		VEC(struct site)
	} sites;
	uint64_t function; /* its begin; NO_ADDRESS: not known */
	uint64_t indirect; /* a jump to where only running tells; NO_ADDRESS: none */
	bool is_entry;
};

/* What calls and comes back into a block. */
struct caller {
	uint32_t to, block;
};

struct edges_flow {
	const struct edges *edges;
	struct dso_cache *cache;
	struct dso **dsos; /* [number of the name]; NULL: not opened, or not to be */
	bool *tried;
	void *decoder;
	struct block *blocks; /* [number of the place]; of sites' places nothing is known */
	bool *is_block;
	struct map hooks; /* hash of object and address of what blocks call */
	struct {
		VEC(struct turn)
	} turns;
	struct {
		VEC(struct edges_branch)
	} branches;
	struct {
		VEC(struct caller)
	} callers;		      /* by to */
	uint64_t *came, *left, *back; /* of one call of edges_flow_turns(), [block] */
};

/* NULL: it does not lead there. */
const struct way *way_to(const struct block *b, uint32_t to);

#endif
