/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/imbalance/count/branch_samples.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/imbalance/count/counted.h"
#include "analysis/imbalance/count/counted_graph.h"
#include "analysis/imbalance/imbalance.h"
#include "base/mem.h"
#include "symbol/dso/cache.h"
#include "symbol/dso/dso.h"

#define STRAIGHT_BYTES 65536 /* longer straight runs are taken for missing records */

/* ---- samples ---- */

const char *branch_samples_kind(const char *event)
{
	static const char *const known[] = { "cache-misses", "page-faults", "minor-faults",
					     "major-faults" };

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(known[i], event))
			return i ? "page-faults" : known[0];
	return !strcmp(event, "ibs_op/cnt_ctl=1/") ? known[0] : "event";
}

void branch_samples_init(struct branch_samples *s, const char *event)
{
	*s = (struct branch_samples){ .run = { .event = event } };
}

static uint32_t place_of(struct branch_samples *s, const struct branch_sample_place *p)
{
	uint64_t key = hash_u64((uint64_t)(uintptr_t)p->file);
	uint32_t object = map_get(&s->object_of, key);

	if (object == MAP_NONE) {
		object = strtab_add(&s->run.names, p->path);
		map_put(&s->object_of, key, object);
	}
	return counts_place(&s->run, object, p->address);
}

void branch_samples_turns(struct branch_samples *s, uint64_t time_ns, uint32_t tid, uint64_t period,
			  const struct branch_sample_turn *turns, size_t n)
{
	if (!n)
		return;
	*vec_add(&s->samples) = (struct branch_sample){
		.time_ns = time_ns,
		.tid = tid,
		.first = (uint32_t)s->pairs.n,
		.turns = (uint32_t)n,
		.weight = (float)period / (float)n,
	};
	for (size_t i = 0; i < n; i++) {
		struct branch_sample_pair pair = { place_of(s, &turns[i].from),
						   place_of(s, &turns[i].to) };

		s->run.places.data[pair.from].turns = true;
		*vec_add(&s->pairs) = pair;
	}
}

void branch_samples_event(struct branch_samples *s, uint64_t time_ns, uint32_t tid, uint64_t period,
			  const struct branch_sample_place *at)
{
	*vec_add(&s->samples) = (struct branch_sample){
		.time_ns = time_ns, .tid = tid, .first = place_of(s, at), .weight = (float)period
	};
}

/* ---- sections ---- */

static void on_instance(void *ctx, uint32_t section, const struct section_part *parts, size_t n)
{
	struct branch_samples *s = ctx;

	for (size_t i = 0; i < n; i++)
		*vec_add(&s->parts) = (struct branch_sample_part){
			.key = { .section = section,
				 .instance = s->instances,
				 .thread = parts[i].thread },
			.tid = parts[i].tid,
			.from_ns = parts[i].from_ns,
			.to_ns = parts[i].to_ns,
			/* what a thread does cannot explain how long it waited for a CPU */
			.time = parts[i].own,
		};
	s->instances++;
}

void branch_samples_watch(struct branch_samples *s, struct imbalance *i)
{
	i->seen = on_instance;
	i->seen_ctx = s;
}

/* ---- samples of a part ---- */

static int by_thread_and_time(const void *a, const void *b)
{
	const struct branch_sample *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

/* Returns the index of the thread's first sample at this time or later. */
static size_t first_at(const struct branch_samples *s, uint32_t tid, uint64_t time_ns)
{
	struct branch_sample wanted = { .tid = tid, .time_ns = time_ns };
	return vec_search(i, 0, s->samples.n, by_thread_and_time(&s->samples.data[i], &wanted) < 0);
}

/*
 * Groups successive instances until they have enough samples. The remaining instances of a section
 * belong to its last group. Instances of a group may have different threads, just as those of a
 * section may.
 */
static void make_groups(struct branch_samples *s)
{
	struct branch_sample_part *parts = s->parts.data, *p = parts, *end = parts + s->parts.n;
	uint32_t group = 0;

	vec_sort(&s->parts, part_key_by_instance);
	while (p < end) {
		struct branch_sample_part *first = p;
		uint64_t samples = 0;
		size_t threads = 0;

		while (p < end && p->key.section == first->key.section) {
			struct branch_sample_part *of = p;

			if (threads && samples >= BRANCH_SAMPLES_ENOUGH * threads)
				break;
			for (; p < end && part_key_same_instance(&p->key, &of->key); p++)
				samples += p->samples;
			threads = (size_t)(p - of) > threads ? (size_t)(p - of) : threads;
		}
		if (samples >= BRANCH_SAMPLES_ENOUGH * threads || first == parts ||
		    first[-1].key.section != first->key.section)
			group++;
		for (; first < p; first++)
			first->key.group = group;
	}
	vec_sort(&s->parts, part_key_by_group);
}

/* ---- names ---- */

enum turn { TURN_JUMP, TURN_CALL, TURN_RETURN };

/* Names the function and line of every place, and the kind of its branch. */
static uint8_t *name_places(struct branch_samples *s)
{
	struct dso_cache *cache = dso_cache_new();
	uint8_t *turns = xcalloc(s->run.places.n + 1, 1);

	for (size_t i = 0; i < s->run.places.n; i++) {
		const struct counts_place *p = &s->run.places.data[i];
		struct dso *dso;

		counts_name(&s->run, (uint32_t)i, cache);
		if (dso_get(cache, strtab_get(&s->run.names, p->object), &dso, NULL))
			continue;
		turns[i] = counted_is_return(dso, p->address) ? TURN_RETURN
			   : counted_is_call(dso, p->address) ? TURN_CALL
							      : TURN_JUMP;
	}
	dso_cache_free(cache);
	return turns;
}

/* ---- counts of one thread in one group ---- */

struct estimate {
	const struct branch_samples *s;
	const uint8_t *turns;	     /* [place]: enum turn */
	const uint32_t *sorted, *at; /* places by address, and [place]: its index in sorted */
	bool *happens;		     /* [place]: the event was sampled here */
	struct map row_of;
	struct {
		VEC(struct counts_row)
	} rows;
	struct {
		VEC(double)
	} sums; /* [row] */
};

static void estimate_add(struct estimate *e, enum counts_kind kind, uint32_t from, uint32_t to,
			 double weight)
{
	for (uint64_t key = hash_u64((uint64_t)from << 32 | to) + (uint64_t)kind;; key++) {
		uint32_t at = map_get(&e->row_of, key);
		const struct counts_row *r;

		if (at == MAP_NONE) {
			map_put(&e->row_of, key, (uint32_t)e->rows.n);
			*vec_add(&e->rows) =
				(struct counts_row){ .kind = kind, .from = from, .to = to };
			*vec_add(&e->sums) = weight;
			return;
		}
		r = &e->rows.data[at];
		if (r->kind == kind && r->from == from && r->to == to) {
			e->sums.data[at] += weight;
			return;
		}
	}
}

/* Adds a straight run from a branch's target to the next taken branch. */
static void add_straight(struct estimate *e, uint32_t from, uint32_t to, double weight)
{
	const struct counts_place *places = e->s->run.places.data;

	if (places[from].object != places[to].object || places[to].address < places[from].address ||
	    places[to].address - places[from].address > STRAIGHT_BYTES)
		return;
	for (uint32_t i = e->at[from]; i <= e->at[to]; i++) {
		uint32_t place = e->sorted[i];

		if (places[place].turns && place != to)
			estimate_add(e, COUNTS_PASSED, place, 0, weight);
		if (e->happens[place])
			estimate_add(e, COUNTS_EXECUTED, place, 0, weight);
	}
}

static void add_sample(struct estimate *e, const struct branch_sample *x)
{
	const struct branch_sample_pair *pairs = e->s->pairs.data + x->first;

	if (!x->turns) {
		estimate_add(e, COUNTS_HAPPENED, x->first, 0, (double)x->weight);
		return;
	}
	for (uint32_t i = 0; i < x->turns; i++) {
		enum turn turn = e->turns[pairs[i].from];

		/* a return leads back into the caller; as with callgrind, the call itself has that
		 * edge */
		if (turn != TURN_RETURN)
			estimate_add(e, turn == TURN_CALL ? COUNTS_CALL : COUNTS_JUMP,
				     pairs[i].from, pairs[i].to, (double)x->weight);
		if (i + 1 < x->turns)
			add_straight(e, pairs[i + 1].to, pairs[i].from, (double)x->weight);
	}
}

/* Adds the parts of one thread in one group. */
static void add_thread_parts(struct estimate *e, struct counted *c,
			     const struct branch_sample_part *parts, size_t n)
{
	struct counted_part part = { .key = parts->key };
	struct counts_dump dump = { 0 };

	for (size_t i = 0; i < n; i++) {
		size_t at = first_at(e->s, parts[i].tid, parts[i].from_ns);

		part.time += parts[i].time;
		for (uint64_t k = 0; k < parts[i].samples; k++)
			add_sample(e, &e->s->samples.data[at + k]);
	}
	for (size_t i = 0; i < e->rows.n; i++) {
		e->rows.data[i].count = (uint64_t)(e->sums.data[i] + 0.5);
		*vec_add(&dump.counts) = e->rows.data[i];
	}
	counted_add_part(c, &part, &dump);
	vec_release(&dump.counts);
	e->rows.n = e->sums.n = 0;
	map_release(&e->row_of);
}

static void add_all_parts(struct estimate *e, struct counted *c)
{
	const struct branch_sample_part *parts = e->s->parts.data;
	size_t first = 0, n = e->s->parts.n;

	for (size_t i = 1; i <= n; i++)
		if (i == n || !part_key_same_thread(&parts[i].key, &parts[first].key)) {
			add_thread_parts(e, c, parts + first, i - first);
			first = i;
		}
	vec_release(&e->rows);
	vec_release(&e->sums);
}

void branch_samples_find(struct branch_samples *s, struct counted *c, struct imbalance *i,
			 const struct lime_options *o)
{
	uint8_t *turns = name_places(s);
	size_t n = s->run.places.n;
	uint32_t *at = xcalloc(n + 1, sizeof(*at));
	bool *happens = xcalloc(n + 1, sizeof(*happens));
	struct estimate e = { .s = s, .turns = turns, .at = at, .happens = happens };

	vec_sort(&s->samples, by_thread_and_time);
	vec_for_each (&s->parts, struct branch_sample_part, p) {
		p->samples = first_at(s, p->tid, p->to_ns) - first_at(s, p->tid, p->from_ns);
		s->within += p->samples;
	}
	make_groups(s);
	vec_for_each (&s->samples, const struct branch_sample, x)
		if (!x->turns)
			happens[x->first] = true;
	counted_begin(c, &s->run);
	for (uint32_t k = 0; k < n; k++)
		at[c->sorted[k]] = k;
	e.sorted = c->sorted;
	add_all_parts(&e, c);
	counted_finish(c, i, o);
	free(turns);
	free(at);
	free(happens);
}

void branch_samples_release(struct branch_samples *s)
{
	counts_release(&s->run);
	map_release(&s->object_of);
	vec_release(&s->samples);
	vec_release(&s->pairs);
	vec_release(&s->parts);
}
