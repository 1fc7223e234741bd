/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Converts counts of steps between instrumented blocks to counts of the program's turns, which are
 * its jumps and calls. It decodes the code between the blocks' calls of the runtime.
 *
 * A step to a block that the code leads to stands for the turns of that way. A step to a function's
 * start is a call. Direct calls need no steps, because they happen as often as the block that
 * contains them. The remaining steps are returns from calls into the middle of a caller. The
 * calling block is then one that leads there, makes calls, and was left less often than it was
 * entered.
 */
#ifndef ISPOT_PROBES_EDGES_FLOW_H
#define ISPOT_PROBES_EDGES_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct edges;
struct edges_flow;

/* A passage from one of these blocks to another, both as numbers of edges.places. */
struct edges_passage {
	uint32_t from, to; /* from EDGES_NOWHERE: none */
	uint64_t count;
};

struct edges_turn {
	uint32_t object; /* number of edges.names */
	bool call;
	uint64_t from, to;  /* addresses in the object */
	uint32_t to_object; /* object of the target */
	uint64_t count;
};

struct edges_turns {
	VEC(struct edges_turn)
};

struct edges_branch {
	uint32_t object;
	uint64_t address;
};

/* e must outlive the result. */
struct edges_flow *edges_flow_new(const struct edges *e);
void edges_flow_free(struct edges_flow *f);
/* Lists every instruction that may change the control flow, once each, by object and address. */
size_t edges_flow_branches(const struct edges_flow *f, const struct edges_branch **branches);
/* Appends the turns of one thread; each passage must be given once. */
void edges_flow_turns(struct edges_flow *f, const struct edges_passage *passages, size_t n,
		      struct edges_turns *turns);

#endif
