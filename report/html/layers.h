/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Places the nodes of a directed graph in layers: what begins is above, each node one layer below
 * the nearest one that leads to it, and within a layer beside what it is connected with.
 */
#ifndef ISPOT_REPORT_HTML_LAYERS_H
#define ISPOT_REPORT_HTML_LAYERS_H

#include <stddef.h>
#include <stdint.h>

struct layer_edge {
	uint32_t from, to; /* numbers of nodes */
};

struct layer_node {
	uint32_t layer, place; /* from 0; place: within the layer */
	double centre;	       /* of those that it is connected with */
};

struct layers {
	const struct layer_edge *edges;
	size_t n_nodes, n_edges;
	struct layer_node *nodes; /* the caller's, n_nodes */
	uint32_t n, widest;	  /* layers, and nodes in the largest */
};

/* roots: nodes to begin with, in order; others follow as far as no edge leads to them. widest nodes
 * at most in a layer: what is beyond goes to one of its own. */
void layers_place(struct layers *l, const uint32_t *roots, size_t n_roots, uint32_t most);

#endif
