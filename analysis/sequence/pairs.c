/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "analysis/sequence/pairs.h"
#include "analysis/sequence/pattern.h"
#include "base/mem.h"

#define GONE UINT32_MAX /* symbol of a node that was merged into its left neighbour */

void pairs_init(struct pairs *p, struct patterns *patterns)
{
	*p = (struct pairs){ .patterns = patterns };
	p->nodes = xcalloc(PAIRS_NODES, sizeof(*p->nodes));
}

void pairs_release(struct pairs *p)
{
	free(p->nodes);
	map_release(&p->at);
	*p = (struct pairs){ 0 };
}

static struct pair_node *node(const struct pairs *p, uint64_t serial)
{
	struct pair_node *n = &p->nodes[serial % PAIRS_NODES];

	return serial && n->serial == serial ? n : NULL;
}

static uint64_t key(const struct pair_node *a, const struct pair_node *b)
{
	return (uint64_t)a->symbol << 32 | b->symbol;
}

/* Removes the pair a, b, which are no neighbours any more. */
static void forget(struct pairs *p, const struct pair_node *a, const struct pair_node *b)
{
	if (a && b && map_get(&p->at, key(a, b)) == a - p->nodes)
		map_remove(&p->at, key(a, b));
}

static void remember(struct pairs *p, const struct pair_node *a, const struct pair_node *b)
{
	if (a && b && a->symbol != b->symbol)
		map_put(&p->at, key(a, b), (uint32_t)(a - p->nodes));
}

static struct pair_node *append(struct pairs *p, uint64_t last, uint32_t symbol)
{
	uint64_t serial = ++p->serial;
	struct pair_node *n = &p->nodes[serial % PAIRS_NODES], *left;

	forget(p, node(p, n->left), n);
	forget(p, n, node(p, n->right));
	*n = (struct pair_node){ .symbol = symbol, .serial = serial };
	left = node(p, last);
	if (left) {
		n->left = last;
		left->right = serial;
	}
	return n;
}

/* Merges a with its right neighbour; symbol stands for both. */
static void merge_right(struct pairs *p, struct pair_node *a, uint32_t symbol)
{
	struct pair_node *b = node(p, a->right), *c = node(p, b->right);
	struct pair_node *left = node(p, a->left);

	forget(p, left, a);
	forget(p, a, b);
	forget(p, b, c);
	a->symbol = symbol;
	a->right = c ? c->serial : 0;
	if (c)
		c->left = a->serial;
	b->symbol = GONE;
	b->left = a->serial;
	b->right = 0;
}

/* Replaces the first occurrence of a pair that has become a pattern. */
static void rewrite(struct pairs *p, struct pair_node *a, uint32_t symbol)
{
	merge_right(p, a, symbol);
	remember(p, node(p, a->left), a);
	remember(p, a, node(p, a->right));
}

/* Returns the symbol that stands for a and b, or PATTERN_NONE if the pair is new. */
static uint32_t pair_symbol(struct pairs *p, const struct pair_node *a, const struct pair_node *b)
{
	uint32_t symbol = patterns_pair(p->patterns, a->symbol, b->symbol), first;

	if (symbol != PATTERN_NONE)
		return symbol;
	first = map_get(&p->at, key(a, b));
	if (first == MAP_NONE || &p->nodes[first] == a) {
		remember(p, a, b);
		return PATTERN_NONE;
	}
	symbol = patterns_add_pair(p->patterns, a->symbol, b->symbol);
	if (symbol != PATTERN_NONE)
		rewrite(p, &p->nodes[first], symbol);
	return symbol;
}

void pairs_push(struct pairs *p, uint64_t *last, uint32_t symbol)
{
	struct pair_node *left, *n;

	for (n = node(p, *last); n && n->symbol == GONE; n = node(p, n->left))
		;
	if (n && n->symbol == symbol)
		return;
	n = append(p, n ? n->serial : 0, symbol);
	while ((left = node(p, n->left))) {
		uint32_t both = left->symbol == n->symbol ? left->symbol : pair_symbol(p, left, n);

		if (both == PATTERN_NONE)
			break;
		merge_right(p, left, both);
		n = left;
	}
	*last = n->serial;
}
