/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/html/layers.h"

#include <stdlib.h>

#include "base/mem.h"

#define NOT_PLACED UINT32_MAX
#define SWEEPS	   4

static void reach(struct layers *l, uint32_t *queue, uint32_t root, uint32_t layer)
{
	size_t first = 0, n = 0;

	if (l->nodes[root].layer != NOT_PLACED)
		return;
	l->nodes[root].layer = layer;
	queue[n++] = root;
	while (first < n) {
		uint32_t at = queue[first++];

		for (size_t i = 0; i < l->n_edges; i++) {
			const struct layer_edge *e = &l->edges[i];

			if (e->from != at || l->nodes[e->to].layer != NOT_PLACED)
				continue;
			l->nodes[e->to].layer = l->nodes[at].layer + 1;
			queue[n++] = e->to;
		}
	}
}

uint32_t layers_count(const struct layers *l, uint32_t layer)
{
	uint32_t n = 0;

	for (size_t i = 0; i < l->n_nodes; i++)
		n += l->nodes[i].layer == layer;
	return n;
}

/* Moves the nodes that do not fit a layer to a new one below it. */
static void split(struct layers *l, uint32_t layer, uint32_t most)
{
	uint32_t n = 0;

	for (size_t i = 0; i < l->n_nodes; i++) {
		struct layer_node *node = &l->nodes[i];

		if (node->layer > layer)
			node->layer++;
		else if (node->layer == layer && ++n > most)
			node->layer++;
	}
}

static void count_layers(struct layers *l, uint32_t most)
{
	l->n = l->widest = 0;
	for (uint32_t n; (n = layers_count(l, l->n)); l->n++) {
		if (n > most) {
			split(l, l->n, most);
			n = most;
		}
		l->widest = n > l->widest ? n : l->widest;
	}
}

static double middle_of(const struct layers *l, uint32_t node)
{
	double sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < l->n_edges; i++) {
		const struct layer_edge *e = &l->edges[i];
		uint32_t other = e->from == node ? e->to : e->from;

		if ((e->from != node && e->to != node) || other == node)
			continue;
		sum += ((double)l->nodes[other].place + 0.5) /
		       (double)layers_count(l, l->nodes[other].layer);
		n++;
	}
	return n ? sum / (double)n : 0.5;
}

static void order(struct layers *l, uint32_t layer)
{
	for (uint32_t i = 0; i < l->n_nodes; i++)
		if (l->nodes[i].layer == layer)
			l->nodes[i].centre = middle_of(l, i);
	for (size_t i = 0; i < l->n_nodes; i++) {
		struct layer_node *node = &l->nodes[i];

		if (node->layer != layer)
			continue;
		node->place = 0;
		for (size_t k = 0; k < l->n_nodes; k++)
			node->place += l->nodes[k].layer == layer &&
				       (l->nodes[k].centre < node->centre ||
					(l->nodes[k].centre == node->centre && k < i));
	}
}

void layers_place(struct layers *l, const uint32_t *roots, size_t n_roots, uint32_t most)
{
	uint32_t *queue = xmalloc((l->n_nodes + 1) * sizeof(*queue));

	for (size_t i = 0; i < l->n_nodes; i++)
		l->nodes[i] = (struct layer_node){ .layer = NOT_PLACED };
	for (size_t i = 0; i < n_roots; i++)
		reach(l, queue, roots[i], 0);
	for (uint32_t i = 0; i < l->n_nodes; i++)
		reach(l, queue, i, 0);
	free(queue);
	count_layers(l, most);
	for (uint32_t layer = 0; layer < l->n; layer++)
		order(l, layer);
	for (unsigned sweep = 0; sweep < SWEEPS; sweep++)
		for (uint32_t layer = 0; layer < l->n; layer++)
			order(l, sweep % 2 ? l->n - 1 - layer : layer);
}
