/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The back edges of a graph of executed control-flow edges: those that close a loop or a recursion.
 * A depth-first walk finds them, first from the nodes that no edge leads to, then from the nodes
 * that are left, in the order of their numbers.
 */
#ifndef ISPOT_ANALYSIS_STAT_CFG_H
#define ISPOT_ANALYSIS_STAT_CFG_H

#include <stdbool.h>
#include <stdint.h>

struct cfg_edge {
	uint32_t from, to; /* nodes */
	bool back;	   /* the edge leads to a node on the path that the walk took to it */
};

/* Sets back of every edge; node numbers are below n_nodes. */
void cfg_find_back_edges(struct cfg_edge *edges, uint32_t n_edges, uint32_t n_nodes);

#endif
