/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Places the nodes of a directed graph in layers: roots are in the top layer, each other node is
 * one layer below the nearest node with an edge to it. Within a layer, nodes are near those that
 * they are connected with.
 */
#ifndef ISPOT_REPORT_HTML_LAYERS_H
#define ISPOT_REPORT_HTML_LAYERS_H

#include <stddef.h>
#include <stdint.h>

struct layer_edge {
	uint32_t from, to; /* numbers of nodes */
};

struct layer_node {
	uint32_t layer, place; /* both from 0; place: position in the layer */
	double centre;	       /* mean position of its neighbours in the graph */
};

struct layers {
	const struct layer_edge *edges;
	size_t n_nodes, n_edges;
	struct layer_node *nodes; /* owned by the caller, n_nodes of them */
	uint32_t n, widest;	  /* number of layers, and of nodes in the largest one */
};

/* roots: nodes of the top layer, in order; nodes that cannot be reached from them become roots,
 * too. A layer has at most `most` nodes; further ones are moved to a new layer below it. */
void layers_place(struct layers *l, const uint32_t *roots, size_t n_roots, uint32_t most);
/* Returns the number of nodes in the layer. */
uint32_t layers_count(const struct layers *l, uint32_t layer);

#endif
