/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "analysis/score/block.h"
#include "analysis/score/callstack.h"
#include "trace/meta/meta.h"
#include "trace/record.h"

void callstacks_init(struct callstacks *s, const struct meta *meta)
{
	*s = (struct callstacks){ .meta = meta, .slow_min_ns = UINT64_MAX };
}

void callstacks_release(struct callstacks *s)
{
	map_release(&s->twins);
	map_release(&s->by_frames);
	map_release(&s->site_of);
	map_release(&s->row_of);
	vec_release(&s->sites);
	vec_release(&s->rows);
}

static bool same_frames(const struct meta *meta, uint32_t a, uint32_t b)
{
	const struct meta_stack *x = meta_stack(meta, a), *y = meta_stack(meta, b);

	return x->n_frames == y->n_frames &&
	       (!x->n_frames || !memcmp(x->frames, y->frames, x->n_frames * sizeof(*x->frames)));
}

/* Returns the first stack with the same frames, because each process numbers stacks on its own; 0
 * if the recording does not describe the stack. */
static uint32_t twin(struct callstacks *s, uint32_t id)
{
	const struct meta_stack *m = meta_stack(s->meta, id);
	uint32_t known = map_get(&s->twins, id), first;
	uint64_t hash;

	if (known != MAP_NONE)
		return known;
	if (!m || !m->n_frames)
		return 0;
	hash = hash_bytes(m->frames, m->n_frames * sizeof(*m->frames));
	while ((first = map_get(&s->by_frames, hash)) != MAP_NONE &&
	       !same_frames(s->meta, first, id))
		hash++;
	if (first == MAP_NONE) {
		map_put(&s->by_frames, hash, id);
		first = id;
	}
	map_put(&s->twins, id, first);
	return first;
}

static uint32_t new_site(struct callstacks *s, uint64_t key, uint32_t id, uint32_t stack)
{
	uint32_t i = (uint32_t)s->sites.n;

	*vec_add(&s->sites) = (struct callstack_site){ .id = id, .stack = stack };
	map_put(&s->site_of, key, i);
	return i;
}

static uint32_t find_site(struct callstacks *s, uint32_t function, uint32_t place)
{
	uint64_t key = (uint64_t)function << 32 | place;
	uint32_t i = map_get(&s->site_of, key), same;

	if (i != MAP_NONE)
		return i;
	same = twin(s, place);
	i = map_get(&s->site_of, (uint64_t)function << 32 | same);
	if (i == MAP_NONE)
		i = new_site(s, (uint64_t)function << 32 | same, function, same);
	map_put(&s->site_of, key, i);
	return i;
}

static inline uint32_t site_of(struct callstacks *s, uint32_t id, const struct call *c)
{
	uint32_t place = c->arg_mask & 1u << ARG_CALLER ? (uint32_t)c->args[ARG_CALLER] : 0;
	uint64_t key = (uint64_t)id << 32 | place;
	uint32_t at = (id * 31 + place) % CALLSTACKS_RECENT;

	if (s->recent[at].key != key || !s->recent[at].site) {
		s->recent[at].key = key;
		s->recent[at].site = find_site(s, id, place) + 1;
	}
	return s->recent[at].site - 1;
}

static void count_stack(struct callstacks *s, uint32_t index, uint32_t stack)
{
	uint64_t key = (uint64_t)index << 32 | stack;
	uint32_t i = map_add(&s->row_of, key, (uint32_t)s->rows.n);

	if (i == s->rows.n)
		*vec_add(&s->rows) = (struct callstack_row){ .stack = stack, .site = index };
	s->rows.data[i].taken++;
	s->sites.data[index].taken++;
}

void callstacks_add(struct callstacks *s, uint32_t id, bool recursive, const struct call *c)
{
	uint32_t index = site_of(s, id, c);
	struct callstack_site *site = &s->sites.data[index];

	site->calls++;
	if (c->end == CALL_TIMED && !recursive) {
		site->timed++;
		site->ns += c->duration_ns;
		site->slow += c->duration_ns >= s->slow_min_ns;
	}
	if (c->stack && twin(s, c->stack))
		count_stack(s, index, twin(s, c->stack));
}

static void on_call(void *self, const struct thread *t, const struct call *c)
{
	(void)t;
	callstacks_add(self, c->id, c->recursive, c);
}

struct call_visitor callstacks_visitor(struct callstacks *s)
{
	return (struct call_visitor){ .self = s, .call = on_call };
}

/* Whether the site's calls belong to the block. */
static bool is_of(const struct callstacks *s, const struct callstack_site *site,
		  const struct block *b)
{
	const struct meta_stack *place = meta_stack(s->meta, site->stack);

	if (s->of_groups)
		return site->id == b->id;
	if (!b->function || site->id != b->function->id)
		return false;
	if (b->kind == BLOCK_SITE)
		return b->place && meta_frame_at(s->meta, place, 0) == b->place;
	return block_is_call(b);
}

static struct callstack part_of(const struct callstack_site *site, uint32_t stack, double part)
{
	return (struct callstack){
		.stack = stack,
		.calls = part * (double)site->calls,
		.slow = part * (double)site->slow,
		.ns = part * (double)site->ns,
		.timed = part * (double)site->timed,
	};
}

/* Adds c to the stack in the list if it is there: two sites can share a stack only if one of them
 * is not known. */
static void add(struct callstack_list *list, const struct callstack *c)
{
	vec_for_each (list, struct callstack, known)
		if (known->stack == c->stack) {
			known->taken += c->taken;
			known->calls += c->calls;
			known->slow += c->slow;
			known->ns += c->ns;
			known->timed += c->timed;
			return;
		}
	*vec_add(list) = *c;
}

static int by_time(const void *a, const void *b)
{
	const struct callstack *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	if (x->calls != y->calls)
		return x->calls < y->calls ? 1 : -1;
	return (x->stack > y->stack) - (x->stack < y->stack);
}

void callstacks_of(struct callstacks *s, const struct block *b, struct callstack_list *list)
{
	struct callstack c;

	vec_for_each (&s->rows, const struct callstack_row, row) {
		const struct callstack_site *site = &s->sites.data[row->site];

		if (!is_of(s, site, b))
			continue;
		c = part_of(site, row->stack, (double)row->taken / site->taken);
		c.taken = row->taken;
		add(list, &c);
	}
	vec_for_each (&s->sites, const struct callstack_site, site)
		if (!site->taken && site->stack && is_of(s, site, b)) {
			c = part_of(site, site->stack, 1);
			add(list, &c);
		}
	vec_sort(list, by_time);
}
