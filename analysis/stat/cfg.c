/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/stat/cfg.h"

#include <stdlib.h>

#include "base/mem.h"

enum { UNSEEN, INSIDE, DONE };

struct walk {
	struct cfg_edge *edges;
	/* out[first[node]] … out[first[node + 1] - 1]: the edges that leave the node */
	uint32_t *first, *out;
	uint32_t *next; /* [node]: position in out of the edge to follow next */
	uint8_t *state;
	uint32_t *path, depth;
};

static void sort_by_source(struct walk *w, uint32_t n_edges, uint32_t n_nodes)
{
	for (uint32_t i = 0; i < n_edges; i++)
		w->first[w->edges[i].from + 1]++;
	for (uint32_t v = 0; v < n_nodes; v++) {
		w->first[v + 1] += w->first[v];
		w->next[v] = w->first[v];
	}
	for (uint32_t i = 0; i < n_edges; i++)
		w->out[w->next[w->edges[i].from]++] = i;
	for (uint32_t v = 0; v < n_nodes; v++)
		w->next[v] = w->first[v];
}

static void go_into(struct walk *w, uint32_t node)
{
	w->state[node] = INSIDE;
	w->path[w->depth++] = node;
}

static void walk_from(struct walk *w, uint32_t root)
{
	go_into(w, root);
	while (w->depth) {
		uint32_t node = w->path[w->depth - 1];
		struct cfg_edge *e;

		if (w->next[node] == w->first[node + 1]) {
			w->state[node] = DONE;
			w->depth--;
			continue;
		}
		e = &w->edges[w->out[w->next[node]++]];
		e->back = w->state[e->to] == INSIDE;
		if (w->state[e->to] == UNSEEN)
			go_into(w, e->to);
	}
}

void cfg_find_back_edges(struct cfg_edge *edges, uint32_t n_edges, uint32_t n_nodes)
{
	struct walk w = {
		.edges = edges,
		.first = xcalloc(n_nodes + 1, sizeof(uint32_t)),
		.out = xcalloc(n_edges + 1, sizeof(uint32_t)),
		.next = xcalloc(n_nodes + 1, sizeof(uint32_t)),
		.state = xcalloc(n_nodes + 1, 1),
		.path = xcalloc(n_nodes + 1, sizeof(uint32_t)),
	};
	bool *led_to = xcalloc(n_nodes + 1, sizeof(*led_to));

	sort_by_source(&w, n_edges, n_nodes);
	for (uint32_t i = 0; i < n_edges; i++)
		led_to[edges[i].to] = true;
	for (uint32_t v = 0; v < n_nodes; v++)
		if (!led_to[v])
			walk_from(&w, v);
	for (uint32_t v = 0; v < n_nodes; v++)
		if (w.state[v] == UNSEEN)
			walk_from(&w, v);
	free(led_to);
	free(w.first);
	free(w.out);
	free(w.next);
	free(w.state);
	free(w.path);
}
