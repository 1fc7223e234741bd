/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From counts of steps between instrumented blocks to counts of the program's turns: its jumps and
 * calls, by decoding what lies between the blocks' calls of the runtime.
 *
 * A step to a block that the code leads to is that way's turns. A step to a function's begin is a
 * call; direct calls happen as often as the block that they are in, and so need no steps. What is
 * left came back from a call, into the middle of a caller: then the block that called is one
 * that leads there, makes calls, and was left less often than it was come to.
 */
#ifndef ISPOT_PROBES_EDGES_FLOW_H
#define ISPOT_PROBES_EDGES_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct edges;
struct edges_flow;

/* A passage from one of these blocks to another; both are edges.places. */
struct edges_passage {
	uint32_t from, to; /* from EDGES_NOWHERE: none */
	uint64_t count;
};

struct edges_turn {
	uint32_t object; /* of edges.names */
	bool call;
	uint64_t from, to;  /* addresses in it */
	uint32_t to_object; /* of a call */
	uint64_t count;
};

struct edges_turns {
	VEC(struct edges_turn)
};

struct edges_branch {
	uint32_t object;
	uint64_t address;
};

/* e must outlive it. */
struct edges_flow *edges_flow_new(const struct edges *e);
void edges_flow_free(struct edges_flow *f);
/* Every instruction at which control may turn, by object and address, each once. */
size_t edges_flow_branches(const struct edges_flow *f, const struct edges_branch **branches);
/* Appends the turns of one thread; each passage is there once. */
void edges_flow_turns(struct edges_flow *f, const struct edges_passage *passages, size_t n,
		      struct edges_turns *turns);

#endif
