/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What sequences are called, and which of them a report has. */
#include <math.h>

#include "analysis/sequence/body.h"
#include "analysis/sequence/sequence.h"
#include "base/text.h"
#include "trace/meta/meta.h"

static const char *function_name(void *ctx, uint32_t id)
{
	const struct meta_function *f = &((const struct meta *)ctx)->functions.data[id];

	return f->name && *f->name ? f->name : f->symbol;
}

static void name_body(const struct sequences *s, const struct body *b, struct text *name)
{
	void *meta = (void *)(uintptr_t)s->meta;

	text_add(name, function_name(meta, b->function));
	if (b->rest)
		text_add(name, " { … }");
	if (!b->n)
		return;
	text_add(name, " {");
	for (uint32_t i = 0; i < b->n; i++) {
		text_add(name, " ");
		pattern_element_name(&s->patterns, &b->elements[i], function_name, meta, name);
	}
	text_add(name, " }");
}

static void name_of(void *ctx, const struct keyed_group *g, struct text *name)
{
	struct sequences *s = ctx;

	if (g->key & 1)
		patterns_name(&s->patterns, (uint32_t)(g->key >> 1), function_name,
			      (void *)(uintptr_t)s->meta, name);
	else
		name_body(s, &s->bodies.data[g->key >> 1], name);
}

struct keyed_rule sequences_rule(struct sequences *s)
{
	return (struct keyed_rule){ .kind = BLOCK_SEQUENCE, .ctx = s, .name = name_of };
}

static int more_calls(const void *a, const void *b)
{
	const struct body *x = a, *y = b;

	return (x->calls < y->calls) - (x->calls > y->calls);
}

/* Orders the bodies: only their names were needed. */
static double share_of(struct sequences *s, uint32_t n)
{
	uint64_t all = 0, first = 0;
	uint32_t taken = 0;

	vec_sort(&s->bodies, more_calls);
	vec_for_each (&s->bodies, const struct body, b) {
		all += b->calls;
		if (!b->rest && taken < n) {
			first += b->calls;
			taken++;
		}
	}
	return all ? (double)first / (double)all : NAN;
}

static bool says_something(const struct sequences *s, const struct keyed_group *g,
			   const struct block *b)
{
	if (b->calls < 2)
		return false;
	return g->rest || !(g->key & 1) ||
	       !pattern_is_part(pattern_of(&s->patterns, (uint32_t)(g->key >> 1)));
}

void sequences_finish(struct sequences *s, struct blocks *blocks)
{
	size_t kept = 0;

	for (size_t i = 0; i < blocks->n; i++) {
		struct block *b = &blocks->data[i];
		const struct keyed_group *g = &s->keyed->groups.data[b->id];

		if (!says_something(s, g, b)) {
			block_release(b);
			continue;
		}
		if (!g->rest) {
			b->name = g->name;
			b->key = NULL;
		}
		blocks->data[kept++] = *b;
	}
	blocks->n = kept;
	s->share_of_50 = share_of(s, 50);
}
