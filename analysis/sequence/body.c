/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/sequence/body.h"

#include "analysis/sequence/track.h"
#include "base/mem.h"
#include "trace/meta/meta.h"

static uint32_t add_body(struct sequences *s, uint32_t function, const struct track *row)
{
	struct body *b = vec_add(&s->bodies);

	b->function = function;
	b->n = row ? row->n_row : 0;
	b->elements = b->n ? xcalloc(b->n, sizeof(*b->elements)) : NULL;
	for (uint32_t i = 0; i < b->n; i++)
		b->elements[i].symbol = row->row[i].symbol;
	b->group = keyed_group(s->keyed, function, KEYED_KEY, (uint64_t)(s->bodies.n - 1) << 1);
	return (uint32_t)s->bodies.n - 1;
}

static bool is_body(const struct body *b, uint32_t function, const struct track *row)
{
	if (b->function != function || b->rest || b->n != row->n_row)
		return false;
	for (uint32_t i = 0; i < b->n; i++)
		if (b->elements[i].symbol != row->row[i].symbol)
			return false;
	return true;
}

static struct body *lone_body(struct sequences *s, uint32_t *of, uint32_t function)
{
	if (of[function] == MAP_NONE)
		of[function] = add_body(s, function, NULL);
	return &s->bodies.data[of[function]];
}

struct body *sequence_rest_body(struct sequences *s, uint32_t function)
{
	struct body *b = lone_body(s, s->rest_of, function);

	s->not_kept++;
	b->rest = true;
	return b;
}

static struct body *find_body(struct sequences *s, uint32_t function, const struct track *row)
{
	uint64_t hash = hash_u64(function + 1);
	uint32_t i;

	for (uint32_t k = 0; k < row->n_row; k++)
		hash = hash_u64(hash * 0x9e3779b97f4a7c15ull + row->row[k].symbol);
	while ((i = map_get(&s->body_of, hash)) != MAP_NONE &&
	       !is_body(&s->bodies.data[i], function, row))
		hash++;
	if (i == MAP_NONE && s->bodies.n >= SEQUENCE_BODIES)
		return sequence_rest_body(s, function);
	if (i == MAP_NONE) {
		i = add_body(s, function, row);
		map_put(&s->body_of, hash, i);
	}
	return &s->bodies.data[i];
}

static void count_elements(struct body *b, const struct track *row)
{
	for (uint32_t i = 0; !b->rest && i < b->n; i++)
		pattern_count(&b->elements[i], row->row[i].repetitions);
}

struct body *sequence_body(struct sequences *s, const struct call *c, const struct track *row)
{
	struct body *b;

	if (!c->children)
		return lone_body(s, s->leaf_of, c->id);
	if (!row || !row->n_row || row->dropped)
		return sequence_rest_body(s, c->id);
	b = find_body(s, c->id, row);
	count_elements(b, row);
	return b;
}
