/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/sequence/transition.h"

#include <stdlib.h>

#include "analysis/sequence/pattern.h"
#include "base/mem.h"
#include "base/text.h"
#include "trace/meta/meta.h"

static void count(struct transition_times *t, uint64_t ns)
{
	t->count++;
	if (ns == TRANSITION_NOTIME)
		return;
	if (!t->timed++ || ns < t->min_ns)
		t->min_ns = ns;
	if (ns > t->max_ns)
		t->max_ns = ns;
	t->total_ns += ns;
}

uint32_t transitions_state(struct transitions *t, uint32_t symbol)
{
	uint32_t state = map_get(&t->state_of, symbol);

	if (state != MAP_NONE || t->states.n >= TRANSITION_STATES)
		return state;
	state = (uint32_t)t->states.n;
	*vec_add(&t->states) = (struct transition_state){ .symbol = symbol };
	map_put(&t->state_of, symbol, state);
	return state;
}

void transitions_pass(struct transitions *t, uint32_t state, uint64_t ns)
{
	if (state != MAP_NONE)
		count(&t->states.data[state].times, ns);
}

/* There are fewer than 2^16 states, so keys are unique. */
static uint64_t key_of(enum transition_kind kind, uint32_t from, uint32_t to)
{
	return (uint64_t)from << 32 | (uint64_t)to << 8 | kind;
}

static struct transition *find(struct transitions *t, enum transition_kind kind, uint32_t from,
			       uint32_t to)
{
	uint64_t key = key_of(kind, from, to);
	uint32_t i = map_get(&t->at, key);

	if (i != MAP_NONE)
		return &t->all.data[i];
	if (t->all.n >= TRANSITIONS_MOST)
		return NULL;
	map_put(&t->at, key, (uint32_t)t->all.n);
	*vec_add(&t->all) = (struct transition){ .kind = kind, .from = from, .to = to };
	return &t->all.data[t->all.n - 1];
}

void transitions_add(struct transitions *t, enum transition_kind kind, uint32_t from, uint32_t to,
		     uint64_t ns)
{
	struct transition *one = NULL;

	if (from != MAP_NONE && to != MAP_NONE)
		one = find(t, kind, from, to);
	if (one)
		count(&one->times, ns);
	else
		t->beyond++;
}

/* ---- after the last transition ---- */

static const char *function_name(void *ctx, uint32_t id)
{
	const struct meta_function *f = meta_function(ctx, id);

	if (!f || !f->symbol)
		return "?";
	return f->name && *f->name ? f->name : f->symbol;
}

static void name_states(struct transitions *t, const struct meta *meta, const struct patterns *p)
{
	vec_for_each (&t->states, struct transition_state, s) {
		struct text name = { 0 };

		patterns_name(p, s->symbol, function_name, (void *)(uintptr_t)meta, &name);
		s->name = name.s ? name.s : xstrdup("?");
	}
}

/* Returns the counter of all transitions that begin where this one does. */
static uint64_t *ways(struct transitions *t, const struct transition *one)
{
	struct transition_state *from = &t->states.data[one->from];

	return one->kind == TRANSITION_CALL ? &from->entered : &from->left;
}

/* Sets each transition's share of those that begin at the same entry or exit. Calls without traced
 * calls inside have no transition from their entry, but count as a way to leave it. */
static void set_shares(struct transitions *t)
{
	uint64_t begins = 0;

	vec_for_each (&t->all, const struct transition, one) {
		if (one->kind == TRANSITION_BEGIN)
			begins += one->times.count;
		else
			*ways(t, one) += one->times.count;
	}
	vec_for_each (&t->states, struct transition_state, s)
		if (s->times.count > s->entered)
			s->entered = s->times.count;
	vec_for_each (&t->all, struct transition, one)
		one->share = (double)one->times.count /
			     (double)(one->kind == TRANSITION_BEGIN ? begins : *ways(t, one));
}

/* Sorts by count, then by key, so that the order does not depend on that of threads in the
 * recording. */
static int more_often(const void *a, const void *b)
{
	const struct transition *x = a, *y = b;
	uint64_t key_x = key_of(x->kind, x->from, x->to), key_y = key_of(y->kind, y->from, y->to);

	if (x->times.count != y->times.count)
		return x->times.count > y->times.count ? -1 : 1;
	return (key_x > key_y) - (key_x < key_y);
}

void transitions_finish(struct transitions *t, const struct meta *meta, const struct patterns *p)
{
	name_states(t, meta, p);
	set_shares(t);
	vec_sort(&t->all, more_often);
	map_release(&t->at);
}

void transitions_release(struct transitions *t)
{
	vec_for_each (&t->states, struct transition_state, s)
		free(s->name);
	vec_release(&t->states);
	vec_release(&t->all);
	map_release(&t->state_of);
	map_release(&t->at);
	*t = (struct transitions){ 0 };
}
