/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A control-flow graph of edges that were executed: which of them close a loop or a recursion. A
 * depth-first walk finds them, from nodes that no edge leads to, then from what is left over, in
 * the order of their numbers.
 */
#ifndef ISPOT_ANALYSIS_STAT_CFG_H
#define ISPOT_ANALYSIS_STAT_CFG_H

#include <stdbool.h>
#include <stdint.h>

struct cfg_edge {
	uint32_t from, to; /* nodes */
	bool back;	   /* leads to a node that the walk was inside of */
};

/* Sets back of every edge; nodes are below n_nodes. */
void cfg_find_back_edges(struct cfg_edge *edges, uint32_t n_edges, uint32_t n_nodes);

#endif
