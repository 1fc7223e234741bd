/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "analysis/score/keyed.h"
#include "base/text.h"
#include "trace/meta/meta.h"

void keyed_init(struct keyed *k, const struct keyed_rule *rule, struct calls *calls,
		const struct meta *meta)
{
	*k = (struct keyed){ .rule = *rule };
	sci_init(&k->sci, calls, meta);
	callstacks_init(&k->stacks, meta);
	k->stacks.of_groups = true;
	k->sci.keyed = k;
	(void)vec_add(&k->slots);
	k->n_keys = xcalloc(meta->functions.n + 1, sizeof(*k->n_keys));
}

void keyed_release(struct keyed *k)
{
	vec_for_each (&k->groups, struct keyed_group, g)
		free(g->name);
	vec_release(&k->groups);
	map_release(&k->group_of);
	vec_release(&k->slots);
	map_release(&k->slot_of);
	free(k->n_keys);
	callstacks_release(&k->stacks);
	sci_release(&k->sci);
	*k = (struct keyed){ 0 };
}

static bool is_group(const struct keyed_group *g, const struct keyed_group *want)
{
	return g->function == want->function && g->has == want->has && g->rest == want->rest &&
	       g->key == want->key;
}

/* Returns the group's number, or MAP_NONE. *at: its key in the map, or the free key for it. */
static uint32_t find_group(const struct keyed *k, const struct keyed_group *want, uint64_t *at)
{
	uint64_t salt = (uint64_t)want->function << 2 | want->has << 1 | want->rest;
	uint32_t i;

	*at = hash_u64(want->key ^ hash_u64(salt));
	while ((i = map_get(&k->group_of, *at)) != MAP_NONE && !is_group(&k->groups.data[i], want))
		++*at;
	return i;
}

static uint32_t make_group(struct keyed *k, const struct keyed_group *g, uint64_t at)
{
	uint32_t i = (uint32_t)k->groups.n;

	*vec_add(&k->groups) = *g;
	map_put(&k->group_of, at, i);
	return i;
}

static bool is_full(const struct keyed *k, uint32_t function)
{
	return k->groups.n >= KEYED_MAX || k->n_keys[function] >= KEYED_OF_FUNCTION;
}

uint32_t keyed_group(struct keyed *k, uint32_t function, enum keyed_has has, uint64_t key)
{
	struct keyed_group g = { .function = function, .has = has };
	uint64_t at;
	uint32_t i;

	if (has == KEYED_KEY)
		g.key = key;
	i = find_group(k, &g, &at);
	if (i != MAP_NONE)
		return i;
	if (has == KEYED_KEY && is_full(k, function)) {
		g.rest = true;
		g.key = 0;
		i = find_group(k, &g, &at);
	} else if (has == KEYED_KEY) {
		k->n_keys[function]++;
	}
	return i == MAP_NONE ? make_group(k, &g, at) : i;
}

static uint32_t slot_of(struct keyed *k, uint32_t thread, uint32_t group)
{
	uint64_t pair = (uint64_t)thread << 32 | group;
	uint32_t slot;

	if (k->recent.slot && k->recent.thread == thread && k->recent.group == group)
		return k->recent.slot;
	slot = map_add(&k->slot_of, pair, (uint32_t)k->slots.n);
	if (slot == k->slots.n)
		*vec_add(&k->slots) = (struct slot){ .thread = thread, .id = group };
	k->recent.thread = thread;
	k->recent.group = group;
	k->recent.slot = slot;
	return slot;
}

void keyed_add(struct keyed *k, const struct thread *t, uint32_t group, bool recursive,
	       const struct call *c)
{
	k->in_rest += k->groups.data[group].rest;
	sci_add(&k->sci, group, slot_of(k, t->index, group), recursive, c);
	callstacks_add(&k->stacks, group, recursive, c);
}

static uint32_t group_of_call(struct keyed *k, const struct thread *t, const struct call *c)
{
	uint64_t key = 0;
	enum keyed_has has = k->rule.key(k->rule.ctx, t, c, &key);

	return has == KEYED_SKIP ? MAP_NONE : keyed_group(k, c->id, has, key);
}

struct search {
	struct keyed *keyed;
	const struct thread *thread;
	uint32_t group;
};

static bool same_group(void *ctx, const struct call *outer)
{
	struct search *s = ctx;

	return group_of_call(s->keyed, s->thread, outer) == s->group;
}

static void on_call(void *self, const struct thread *t, const struct call *c)
{
	struct keyed *k = self;
	struct search s = { k, t, group_of_call(k, t, c) };
	uint32_t parent;

	k->latest = (struct call_group){ s.group, false };
	if (s.group == MAP_NONE)
		return;
	k->latest.inner = call_is_inner(t, c, same_group, &s);
	keyed_add(k, t, s.group, k->latest.inner, c);
	parent = c->parent && c->end == CALL_TIMED ? group_of_call(k, t, c->parent) : MAP_NONE;
	if (parent != MAP_NONE)
		sci_add_edge(&k->sci, parent, c);
}

struct call_visitor keyed_visitor(struct keyed *k)
{
	return (struct call_visitor){ .self = k, .call = on_call };
}

static void name_group(struct keyed *k, struct keyed_group *g)
{
	struct text name = { 0 };

	if (g->rest)
		text_printf(&name, "other than the first %u", k->n_keys[g->function]);
	else
		k->rule.name(k->rule.ctx, g, &name);
	free(g->name);
	g->name = name.s;
}

void keyed_build(struct keyed *k, const struct sci *functions, const struct block_options *o,
		 struct blocks *blocks)
{
	for (size_t i = 0; i < k->groups.n; i++) {
		struct keyed_group *g = &k->groups.data[i];
		const struct sci_function *f =
			functions ? sci_function(functions, g->function) : NULL;

		name_group(k, g);
		if (f && sci_function(&k->sci, (uint32_t)i))
			k->sci.functions.data[i]->lost_records = f->lost_records;
	}
	blocks_build(blocks, &k->sci, o);
}
