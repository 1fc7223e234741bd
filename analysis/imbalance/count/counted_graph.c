/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/imbalance/count/counted_graph.h"

#include <fnmatch.h>
#include <string.h>

#include "analysis/imbalance/section/parallel_role.h"
#include "base/mem.h"
#include "symbol/dso/cache.h"
#include "symbol/dso/dso.h"

/* Runtime systems, which wait by spinning, and whose work is not the program's own. */
static const char *const waiting_objects[] = { "*/libgomp.so*",	   "*/libomp.so*",
					       "*/libiomp5.so*",   "*/ld-linux*",
					       "*/libpthread.so*", NULL };

bool counted_matches(const char *const *patterns, const char *name)
{
	for (; *patterns; patterns++)
		if (!fnmatch(*patterns, name, 0))
			return true;
	return false;
}

bool counted_waits(const struct counts *run, uint32_t place)
{
	const struct counts_place *p = &run->places.data[place];

	return counted_matches(waiting_objects, strtab_get(&run->names, p->object)) ||
	       counted_matches(parallel_barriers, strtab_get(&run->names, p->function));
}

/* ---- nodes ---- */

static int by_address(const void *a, const void *b, void *ctx)
{
	const struct counts *run = ctx;
	const struct counts_place *x = &run->places.data[*(const uint32_t *)a];
	const struct counts_place *y = &run->places.data[*(const uint32_t *)b];

	if (x->object != y->object)
		return x->object < y->object ? -1 : 1;
	return (x->address > y->address) - (x->address < y->address);
}

bool counted_is_return(struct dso *dso, uint64_t address)
{
	const uint8_t *code = dso ? dso_bytes(dso, address, 4) : NULL;

	if (code && dso_machine(dso) == DSO_AARCH64)
		return code[0] == 0xc0 && code[1] == 0x03 && code[2] == 0x5f && code[3] == 0xd6;
	return code && (code[0] == 0xc3 || code[0] == 0xc2 ||
			((code[0] == 0xf3 || code[0] == 0xf2) && code[1] == 0xc3));
}

/* x86-64: call rel32, call through a register or memory, with prefixes. */
static bool is_call_x86(const uint8_t *code)
{
	const uint8_t *last = code + 4;

	while (code < last &&
	       ((*code & 0xf0) == 0x40 || *code == 0x3e || *code == 0xf2 || *code == 0x67))
		code++;
	return *code == 0xe8 || (*code == 0xff && (code[1] >> 3 & 7) == 2);
}

bool counted_is_call(struct dso *dso, uint64_t address)
{
	const uint8_t *code = dso ? dso_bytes(dso, address, 8) : NULL;

	if (code && dso_machine(dso) == DSO_AARCH64) /* bl; blr and its variants with pointer
						      * authentication */
		return (code[3] & 0xfc) == 0x94 ||
		       ((code[3] & 0xfe) == 0xd6 && (code[2] & 0xe0) == 0x20);
	return code && is_call_x86(code);
}

void counted_graph_init(struct counted *c)
{
	const struct counts *run = c->run;
	struct dso_cache *cache = dso_cache_new();
	uint32_t n = (uint32_t)run->places.n, object = MAP_NONE;
	struct dso *dso = NULL;

	c->sorted = xcalloc(n + 1, sizeof(uint32_t));
	c->node_of = xcalloc(n + 1, sizeof(uint32_t));
	for (uint32_t i = 0; i < n; i++)
		c->sorted[i] = i;
	qsort_r(c->sorted, n, sizeof(uint32_t), by_address, (void *)(uintptr_t)run);
	/* The node of a place is the first branch from it on. The loop goes backwards, so that this
	 * is known. */
	for (uint32_t i = n, next = LIME_NONE; i-- > 0;) {
		const struct counts_place *p = &run->places.data[c->sorted[i]];

		if (p->object != object) {
			object = p->object;
			next = LIME_NONE;
			if (dso_get(cache, strtab_get(&run->names, object), &dso, NULL))
				dso = NULL;
		}
		if (p->turns || counted_is_return(dso, p->address))
			next = c->sorted[i];
		c->node_of[c->sorted[i]] = next;
	}
	dso_cache_free(cache);
}

/* ---- edges ---- */

static uint32_t event_of(struct counted *c, enum lime_kind kind, uint32_t from, uint32_t to,
			 uint32_t superior)
{
	for (uint64_t key = hash_u64((uint64_t)from << 32 | to) + (uint64_t)kind;; key++) {
		uint32_t at = map_get(&c->event_of, key);
		struct lime_event *e;

		if (at == MAP_NONE) {
			at = (uint32_t)c->events.n;
			map_put(&c->event_of, key, at);
			*vec_add(&c->events) = (struct lime_event){ .kind = kind,
								    .edge = { from, to, false },
								    .superior = superior };
			return at;
		}
		e = &c->events.data[at];
		if (e->kind == kind && e->edge.from == from && e->edge.to == to &&
		    e->superior == superior)
			return at;
	}
}

static void add(struct counted_counts *counts, uint32_t event, double count)
{
	*vec_add(counts) = (struct counted_count){ event, count };
}

static void add_edge(struct counted *c, struct counted_counts *counts, uint32_t from,
		     uint32_t target, double count)
{
	uint32_t to = target == MAP_NONE ? LIME_NONE : c->node_of[target];

	if (count != 0 && to != LIME_NONE && !counted_waits(c->run, target))
		add(counts, event_of(c, LIME_EDGE, from, to, LIME_NONE), count);
}

/* Returns the next instruction after a place that was ever executed, or MAP_NONE. */
static uint32_t behind(const struct counted *c, uint32_t place)
{
	const struct counts *run = c->run;
	uint32_t low = vec_search(i, 0, (uint32_t)run->places.n,
				  by_address(&c->sorted[i], &place, (void *)(uintptr_t)run) <= 0);

	if (low == run->places.n ||
	    run->places.data[c->sorted[low]].object != run->places.data[place].object)
		return MAP_NONE;
	return c->sorted[low];
}

static void add_misses(struct counted *c, struct counted_counts *counts, const struct counts_row *k)
{
	uint32_t runs = event_of(c, LIME_EXECUTIONS, k->from, k->from, LIME_NONE);
	uint32_t l1 = event_of(c, LIME_HARDWARE, k->from, k->from, runs);
	uint32_t ll = event_of(c, LIME_HARDWARE, k->from, k->from, l1);

	add(counts, runs, (double)k->count);
	add(counts, l1, (double)k->l1_misses);
	add(counts, ll, (double)k->ll_misses);
}

/* A conditional jump falls through when it is executed and not taken: its executions are added
 * here, and add_turn() subtracts the taken ones. */
static void add_run(struct counted *c, struct counted_counts *counts, const struct counts_row *k)
{
	if (c->run->places.data[k->from].cond)
		add_edge(c, counts, k->from, behind(c, k->from), (double)k->count);
	if (c->run->caches)
		add_misses(c, counts, k);
}

static void add_turn(struct counted *c, struct counted_counts *counts, const struct counts_row *k)
{
	double count = (double)k->count;

	if (k->kind == COUNTS_CALL && counted_waits(c->run, k->to))
		return;
	add_edge(c, counts, k->from, k->to, count);
	if (k->kind == COUNTS_COND)
		add_edge(c, counts, k->from, behind(c, k->from), -count);
	else if (k->kind == COUNTS_CALL)
		add_edge(c, counts, k->from, behind(c, k->from), count);
}

/* Counts an event at its place. Its superior is the execution of the instruction. */
static void add_happened(struct counted *c, struct counted_counts *counts,
			 const struct counts_row *k)
{
	uint32_t runs = event_of(c, LIME_EXECUTIONS, k->from, k->from, LIME_NONE);

	add(counts, event_of(c, LIME_HARDWARE, k->from, k->from, runs), (double)k->count);
}

/* Adds a row if it comes from samples, else returns false. */
static bool add_sampled(struct counted *c, struct counted_counts *counts,
			const struct counts_row *k)
{
	double count = (double)k->count;

	if (k->kind == COUNTS_PASSED)
		add_edge(c, counts, k->from, behind(c, k->from), count);
	else if (k->kind == COUNTS_EXECUTED)
		add(counts, event_of(c, LIME_EXECUTIONS, k->from, k->from, LIME_NONE), count);
	else if (k->kind == COUNTS_HAPPENED)
		add_happened(c, counts, k);
	else
		return false;
	return true;
}

double counted_graph_dump(struct counted *c, const struct counts_dump *d,
			  struct counted_counts *counts)
{
	double time = 0;

	vec_for_each (&d->counts, const struct counts_row, k) {
		if (counted_waits(c->run, k->from) || add_sampled(c, counts, k))
			continue;
		if (k->kind != COUNTS_RUN) {
			add_turn(c, counts, k);
			continue;
		}
		time += (double)k->count + 10 * (double)k->l1_misses + 100 * (double)k->ll_misses;
		add_run(c, counts, k);
	}
	return time;
}

/*
 * Finds back edges. Samples rarely contain the entry of a loop. The search for back edges in a loop
 * without an entry begins at its lowest address. With callgrind, which counts all edges, it begins
 * at the place that was found first.
 */
void counted_graph_finish(struct counted *c)
{
	struct cfg_edge *edges = xcalloc(c->events.n + 1, sizeof(*edges));
	uint32_t n = 0, n_places = (uint32_t)c->run->places.n;
	uint32_t *number = xcalloc(n_places + 1, sizeof(*number));

	for (uint32_t i = 0; i < n_places; i++)
		number[c->sorted[i]] = c->run->event ? i : c->sorted[i];
	vec_for_each (&c->events, struct lime_event, e)
		if (e->kind == LIME_EDGE)
			edges[n++] = (struct cfg_edge){ .from = number[e->edge.from],
							.to = number[e->edge.to] };
	cfg_find_back_edges(edges, n, n_places);
	n = 0;
	vec_for_each (&c->events, struct lime_event, e)
		if (e->kind == LIME_EDGE)
			e->edge.back = edges[n++].back;
	free(edges);
	free(number);
}
