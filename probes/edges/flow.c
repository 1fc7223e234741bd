/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/edges/flow.h"

#include <string.h>

#include "probes/edges/edges.h"
#include "probes/edges/flow_internal.h"

static void add_turn(struct edges_flow *f, uint32_t block, struct turn turn, uint64_t count,
		     struct edges_turns *turns)
{
	uint32_t object = f->edges->places.data[block].object;

	*vec_add(turns) = (struct edges_turn){ .object = object,
					       .from = turn.from,
					       .to = turn.to,
					       .to_object = object,
					       .count = count };
}

static void take_way(struct edges_flow *f, uint32_t block, const struct way *way, uint64_t count,
		     struct edges_turns *turns)
{
	f->left[block] += count;
	for (uint32_t i = 0; i < way->n; i++)
		add_turn(f, block, f->turns.data[way->first + i], count, turns);
}

/* Through a pointer, or into another file. */
static void take_indirect_call(struct edges_flow *f, const struct edges_passage *p,
			       struct edges_turns *turns)
{
	const struct edges_place *from = &f->edges->places.data[p->from],
				 *to = &f->edges->places.data[p->to];
	uint64_t function = f->blocks[p->to].function;

	vec_for_each (&f->blocks[p->from].sites, const struct site, s)
		if (s->to == EDGES_NOWHERE) {
			*vec_add(turns) = (struct edges_turn){
				.object = from->object,
				.call = true,
				.from = s->address,
				.to = function == NO_ADDRESS ? to->address : function,
				.to_object = to->object,
				.count = p->count,
			};
			return;
		}
}

static void take_passage(struct edges_flow *f, const struct edges_passage *p,
			 struct edges_turns *turns)
{
	const struct block *from = &f->blocks[p->from], *to = &f->blocks[p->to];
	const struct way *way = way_to(from, p->to);

	if (way) {
		take_way(f, p->from, way, p->count, turns);
	} else if (to->is_entry) {
		take_indirect_call(f, p, turns);
	} else if (from->indirect != NO_ADDRESS && from->function == to->function) {
		f->left[p->from] += p->count;
		add_turn(f, p->from,
			 (struct turn){ from->indirect, f->edges->places.data[p->to].address },
			 p->count, turns);
	} else {
		f->back[p->to] += p->count;
	}
}

static uint64_t inside_of(const struct edges_flow *f, uint32_t block)
{
	return f->came[block] > f->left[block] ? f->came[block] - f->left[block] : 0;
}

/* Callers share what came back into a block as their calls are not accounted for otherwise. */
static void take_back(struct edges_flow *f, const struct caller *first, size_t n,
		      struct edges_turns *turns)
{
	uint64_t back = f->back[first->to], sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += inside_of(f, first[i].block);
	for (size_t i = 0; i < n && sum; i++) {
		uint64_t inside = inside_of(f, first[i].block);
		uint64_t share = (uint64_t)((double)back * (double)inside / (double)sum + 0.5);

		if (share)
			take_way(f, first[i].block, way_to(&f->blocks[first[i].block], first->to),
				 share, turns);
		back -= share < back ? share : back;
		sum -= inside;
	}
}

static void take_calls(struct edges_flow *f, uint32_t block, struct edges_turns *turns)
{
	uint32_t object = f->edges->places.data[block].object;

	vec_for_each (&f->blocks[block].sites, const struct site, s)
		if (s->to != EDGES_NOWHERE && f->came[block])
			*vec_add(turns) = (struct edges_turn){ .object = object,
							       .call = true,
							       .from = s->address,
							       .to = s->target,
							       .to_object = object,
							       .count = f->came[block] };
}

void edges_flow_turns(struct edges_flow *f, const struct edges_passage *passages, size_t n,
		      struct edges_turns *turns)
{
	size_t blocks = f->edges->places.n, first = 0;

	memset(f->came, 0, blocks * sizeof(*f->came));
	memset(f->left, 0, blocks * sizeof(*f->left));
	memset(f->back, 0, blocks * sizeof(*f->back));
	for (size_t i = 0; i < n; i++)
		if (passages[i].to != EDGES_NOWHERE)
			f->came[passages[i].to] += passages[i].count;
	for (size_t i = 0; i < n; i++)
		if (passages[i].to != EDGES_NOWHERE && passages[i].from != EDGES_NOWHERE)
			take_passage(f, &passages[i], turns);
	for (size_t i = 1; i <= f->callers.n; i++)
		if (i == f->callers.n || f->callers.data[i].to != f->callers.data[first].to) {
			if (f->back[f->callers.data[first].to])
				take_back(f, f->callers.data + first, i - first, turns);
			first = i;
		}
	for (uint32_t i = 0; i < blocks; i++)
		take_calls(f, i, turns);
}
