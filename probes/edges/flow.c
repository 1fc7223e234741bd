/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/edges/flow.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/vec.h"
#include "probes/code/decode.h"
#include "probes/code/decode_arm64.h"
#include "probes/code/decode_x86.h"
#include "probes/edges/edges.h"
#include "symbol/dso/cache.h"
#include "symbol/dso/dso.h"
#include "symbol/dso/frames.h"
#include "symbol/dso/symbols.h"

#define NO_ADDRESS UINT64_MAX

struct turn {
	uint64_t from, to;
};

/* A way from the end of one block to the next block. */
struct way {
	uint32_t to;	   /* block */
	uint32_t first, n; /* range in edges_flow.turns */
};

/* A call that a block makes each time it runs. */
struct site {
	uint64_t address, target;
	uint32_t to; /* first block of the callee; EDGES_NOWHERE: unknown */
};

struct block {
	struct {
		VEC(struct way)
	} ways;
	struct {
		VEC(struct site)
	} sites;
	uint64_t function; /* address of its function; NO_ADDRESS: unknown */
	uint64_t indirect; /* a jump whose target is known only at run time; NO_ADDRESS: none */
	bool is_entry;
};

/* A block with a call that returns into block number `to`. */
struct caller {
	uint32_t to, block;
};

struct edges_flow {
	const struct edges *edges;
	struct dso_cache *cache;
	struct dso **dsos; /* [number of the name]; NULL: not opened, or failed to open */
	bool *tried;
	void *decoder;
	struct block *blocks; /* [number of the place]; unused if the place is a site */
	bool *is_block;
	struct map hooks; /* hash of object and address of the hook as blocks call it */
	struct {
		VEC(struct turn)
	} turns;
	struct {
		VEC(struct edges_branch)
	} branches;
	struct {
		VEC(struct caller)
	} callers;		      /* sorted by to */
	uint64_t *came, *left, *back; /* used in one call of edges_flow_turns(), [block] */
};

/* ---- the code: blocks and the ways between them ---- */

#define WAY_STEPS   32	 /* most branches between two blocks; longer ways are ignored */
#define WALK_INSNS  2000 /* most instructions decoded from one block, over all its ways */
#define ENTRY_INSNS 200	 /* most instructions from a function's start to its first block */

/* ---- code ---- */

static struct dso *dso_of(struct edges_flow *f, uint32_t object)
{
	if (!f->tried[object]) {
		f->tried[object] = true;
		if (dso_get(f->cache, strtab_get(&f->edges->names, object), &f->dsos[object], NULL))
			f->dsos[object] = NULL;
	}
	return f->dsos[object];
}

static bool decode(struct edges_flow *f, uint32_t object, uint64_t address, struct insn *insn)
{
	struct dso *dso = dso_of(f, object);
	const uint8_t *code;
	size_t n;

	if (!dso || dso_machine(dso) == DSO_OTHER)
		return false;
	code = dso_code(dso, address, &n);
	if (!code)
		return false;
	if (dso_machine(dso) == DSO_AARCH64)
		return decode_arm64(NULL, code, n, address, insn);
	if (!f->decoder)
		f->decoder = decoder_x86_new(false);
	return decode_x86(f->decoder, code, n, address, insn);
}

static uint64_t key_of(uint32_t object, uint64_t address)
{
	return hash_u64(address ^ (uint64_t)object << 48);
}

/*
 * Returns the block that starts after a call of the runtime which ends at address, or
 * EDGES_NOWHERE.
 */
static uint32_t block_at(const struct edges_flow *f, uint32_t object, uint64_t address)
{
	const struct edges *e = f->edges;

	for (uint64_t key = key_of(object, address);; key++) {
		uint32_t at = map_get(&e->place_of, key);

		if (at == MAP_NONE)
			return EDGES_NOWHERE;
		if (e->places.data[at].object == object && e->places.data[at].address == address)
			return f->is_block[at] ? at : EDGES_NOWHERE;
	}
}

/*
 * Returns the target of a direct call at the end of insn, or NO_ADDRESS if it is not a direct call.
 */
static uint64_t call_target(struct edges_flow *f, uint32_t object, const struct insn *insn)
{
	struct dso *dso = dso_of(f, object);
	const uint8_t *code = dso ? dso_bytes(dso, insn->address, insn->length) : NULL;
	int32_t offset;

	if (!code)
		return NO_ADDRESS;
	if (dso_machine(dso) == DSO_AARCH64) {
		memcpy(&offset, code, sizeof(offset));
		if (((uint32_t)offset & 0xfc000000u) != 0x94000000u)
			return NO_ADDRESS;
		return insn->address +
		       (uint64_t)((int64_t)((uint64_t)(uint32_t)offset << 38) >> 36);
	}
	if (insn->length < 5 || code[insn->length - 5] != 0xe8)
		return NO_ADDRESS;
	memcpy(&offset, code + insn->length - 4, sizeof(offset));
	return insn->address + insn->length + (uint64_t)(int64_t)offset;
}

static bool is_hook(const struct edges_flow *f, uint32_t object, uint64_t target)
{
	return target != NO_ADDRESS && map_get(&f->hooks, key_of(object, target)) == object;
}

/*
 * Remembers the address at which this block calls the hook of the runtime, most often an entry of
 * the procedure linkage table.
 */
static void find_hook(struct edges_flow *f, const struct edges_place *p)
{
	bool arm = dso_of(f, p->object) && dso_machine(dso_of(f, p->object)) == DSO_AARCH64;
	struct insn insn = { .address = p->address - (arm ? 4 : 5), .length = arm ? 4 : 5 };
	uint64_t target = call_target(f, p->object, &insn);

	if (target != NO_ADDRESS)
		map_put(&f->hooks, key_of(p->object, target), p->object);
}

/*
 * Returns the block that a function which starts at address reaches before it branches, or
 * EDGES_NOWHERE.
 */
static uint32_t entry_at(struct edges_flow *f, uint32_t object, uint64_t address)
{
	struct insn insn;

	for (unsigned i = 0; i < ENTRY_INSNS && decode(f, object, address, &insn); i++) {
		address += insn.length;
		if (insn.is_call) {
			uint32_t block = block_at(f, object, address);

			if (block != EDGES_NOWHERE ||
			    is_hook(f, object, call_target(f, object, &insn)))
				return block;
		}
		if (insn.flow == FLOW_JUMP)
			address = insn.target;
		else if (insn.flow != FLOW_NEXT)
			break;
	}
	return EDGES_NOWHERE;
}

static uint64_t function_at(struct edges_flow *f, const struct edges_place *p)
{
	struct dso *dso = dso_of(f, p->object);
	const struct dso_function *function = dso ? dso_function_at(dso, p->address - 1) : NULL;
	uint64_t start, size;

	if (function)
		return function->address;
	return dso && dso_frame_range(dso, p->address - 1, &start, &size) ? start : NO_ADDRESS;
}

/* ---- from one block to the next ones ---- */

struct walk {
	struct edges_flow *flow;
	struct block *block;
	uint32_t object;
	unsigned budget;
	struct turn turns[WAY_STEPS];
};

static void add_branch(struct walk *w, uint64_t address)
{
	*vec_add(&w->flow->branches) = (struct edges_branch){ w->object, address };
}

/* Returns the way from b to another block, or NULL. */
static const struct way *way_to(const struct block *b, uint32_t to)
{
	vec_for_each (&b->ways, const struct way, way)
		if (way->to == to)
			return way;
	return NULL;
}

static void add_way(struct walk *w, uint32_t to, unsigned n)
{
	if (way_to(w->block, to))
		return;
	*vec_add(&w->block->ways) = (struct way){ to, (uint32_t)w->flow->turns.n, n };
	for (unsigned i = 0; i < n; i++)
		*vec_add(&w->flow->turns) = w->turns[i];
}

/*
 * Handles a call in the walk. n is the number of turns so far. Returns true if a block begins after
 * the call, which ends the walk.
 */
static bool follow_call(struct walk *w, const struct insn *insn, unsigned n)
{
	uint32_t block = block_at(w->flow, w->object, insn->address + insn->length);
	uint64_t target = call_target(w->flow, w->object, insn);

	if (block != EDGES_NOWHERE)
		add_way(w, block, n);
	if (block != EDGES_NOWHERE || is_hook(w->flow, w->object, target))
		return true;
	if (!n)
		*vec_add(&w->block->sites) = (struct site){
			insn->address, target,
			target == NO_ADDRESS ? EDGES_NOWHERE : entry_at(w->flow, w->object, target)
		};
	return false;
}

static void follow(struct walk *w, uint64_t address, unsigned n)
{
	struct insn insn;

	while (w->budget && n < WAY_STEPS && decode(w->flow, w->object, address, &insn)) {
		w->budget--;
		if (insn.is_call && follow_call(w, &insn, n))
			return;
		address += insn.length;
		if (insn.flow == FLOW_NEXT)
			continue;
		add_branch(w, insn.address);
		if (insn.flow == FLOW_JUMP_REG || insn.flow == FLOW_JUMP_MEM)
			w->block->indirect = insn.address;
		if (insn.flow == FLOW_BRANCH) {
			w->turns[n] = (struct turn){ insn.address, insn.target };
			follow(w, insn.target, n + 1);
		} else if (insn.flow != FLOW_JUMP) {
			return;
		}
		address = insn.flow == FLOW_JUMP ? insn.target : address;
		w->turns[n++] = (struct turn){ insn.address, address };
	}
}

static void read_block(struct edges_flow *f, uint32_t number)
{
	const struct edges_place *p = &f->edges->places.data[number];
	struct block *b = &f->blocks[number];
	struct walk w = { .flow = f, .block = b, .object = p->object, .budget = WALK_INSNS };

	b->indirect = NO_ADDRESS;
	b->function = function_at(f, p);
	if (b->function != NO_ADDRESS && entry_at(f, p->object, b->function) == number)
		b->is_entry = true;
	follow(&w, p->address, 0);
	vec_for_each (&b->sites, const struct site, s) {
		add_branch(&w, s->address);
		if (s->to != EDGES_NOWHERE)
			f->blocks[s->to].is_entry = true;
	}
	vec_for_each (&b->ways, const struct way, way)
		if (b->sites.n)
			*vec_add(&f->callers) = (struct caller){ way->to, number };
}

/* ---- all blocks ---- */

static int by_address(const void *a, const void *b)
{
	const struct edges_branch *x = a, *y = b;

	if (x->object != y->object)
		return x->object < y->object ? -1 : 1;
	return (x->address > y->address) - (x->address < y->address);
}

static int by_to(const void *a, const void *b)
{
	const struct caller *x = a, *y = b;

	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return (x->block > y->block) - (x->block < y->block);
}

static void sort_branches(struct edges_flow *f)
{
	size_t n = 0;

	vec_sort(&f->branches, by_address);
	vec_for_each (&f->branches, const struct edges_branch, b)
		if (!n || by_address(&f->branches.data[n - 1], b))
			f->branches.data[n++] = *b;
	f->branches.n = n;
}

struct edges_flow *edges_flow_new(const struct edges *e)
{
	struct edges_flow *f = xcalloc(1, sizeof(*f));
	size_t n = e->places.n + 1, names = 1;

	vec_for_each (&e->places, const struct edges_place, p)
		names = p->object >= names ? p->object + 1 : names;
	f->edges = e;
	f->cache = dso_cache_new();
	f->dsos = xcalloc(names, sizeof(*f->dsos));
	f->tried = xcalloc(names, sizeof(*f->tried));
	f->blocks = xcalloc(n, sizeof(*f->blocks));
	f->is_block = xcalloc(n, sizeof(*f->is_block));
	f->came = xcalloc(n, sizeof(*f->came));
	f->left = xcalloc(n, sizeof(*f->left));
	f->back = xcalloc(n, sizeof(*f->back));
	vec_for_each (&e->logs, const struct edges_log, log)
		vec_for_each (&log->steps, const struct edges_step, s) {
			if (s->from != EDGES_NOWHERE)
				f->is_block[s->from] = true;
			if (s->to != EDGES_NOWHERE)
				f->is_block[s->to] = true;
		}
	for (uint32_t i = 0; i < e->places.n; i++)
		if (f->is_block[i])
			find_hook(f, &e->places.data[i]);
	for (uint32_t i = 0; i < e->places.n; i++)
		if (f->is_block[i])
			read_block(f, i);
	sort_branches(f);
	vec_sort(&f->callers, by_to);
	return f;
}

void edges_flow_free(struct edges_flow *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->edges->places.n; i++) {
		vec_release(&f->blocks[i].ways);
		vec_release(&f->blocks[i].sites);
	}
	vec_release(&f->turns);
	vec_release(&f->branches);
	vec_release(&f->callers);
	map_release(&f->hooks);
	if (f->decoder)
		decoder_x86_free(f->decoder);
	dso_cache_free(f->cache);
	free(f->dsos);
	free(f->tried);
	free(f->blocks);
	free(f->is_block);
	free(f->came);
	free(f->left);
	free(f->back);
	free(f);
}

size_t edges_flow_branches(const struct edges_flow *f, const struct edges_branch **branches)
{
	*branches = f->branches.data;
	return f->branches.n;
}

/* ---- from counts to turns ---- */

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

static void count_way(struct edges_flow *f, uint32_t block, const struct way *way, uint64_t count,
		      struct edges_turns *turns)
{
	f->left[block] += count;
	for (uint32_t i = 0; i < way->n; i++)
		add_turn(f, block, f->turns.data[way->first + i], count, turns);
}

/* Adds a call through a pointer or into another file. */
static void add_indirect_call(struct edges_flow *f, const struct edges_passage *p,
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

static void add_passage(struct edges_flow *f, const struct edges_passage *p,
			struct edges_turns *turns)
{
	const struct block *from = &f->blocks[p->from], *to = &f->blocks[p->to];
	const struct way *way = way_to(from, p->to);

	if (way) {
		count_way(f, p->from, way, p->count, turns);
	} else if (to->is_entry) {
		add_indirect_call(f, p, turns);
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

/*
 * Divides the returns into a block among its callers, by how often each was entered but not left in
 * another counted way.
 */
static void divide_returns(struct edges_flow *f, const struct caller *first, size_t n,
			   struct edges_turns *turns)
{
	uint64_t back = f->back[first->to], sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += inside_of(f, first[i].block);
	for (size_t i = 0; i < n && sum; i++) {
		uint64_t inside = inside_of(f, first[i].block);
		uint64_t share = (uint64_t)((double)back * (double)inside / (double)sum + 0.5);

		if (share)
			count_way(f, first[i].block, way_to(&f->blocks[first[i].block], first->to),
				  share, turns);
		back -= share < back ? share : back;
		sum -= inside;
	}
}

static void add_calls(struct edges_flow *f, uint32_t block, struct edges_turns *turns)
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
			add_passage(f, &passages[i], turns);
	for (size_t i = 1; i <= f->callers.n; i++)
		if (i == f->callers.n || f->callers.data[i].to != f->callers.data[first].to) {
			if (f->back[f->callers.data[first].to])
				divide_returns(f, f->callers.data + first, i - first, turns);
			first = i;
		}
	for (uint32_t i = 0; i < blocks; i++)
		add_calls(f, i, turns);
}
