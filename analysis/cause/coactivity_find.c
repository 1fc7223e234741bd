/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/cause/coactivity_find.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/evidence/coactivity.h"
#include "analysis/score/block.h"
#include "base/mem.h"
#include "trace/meta/meta.h"

static uint32_t cpus(const struct coactivity *co)
{
	uint32_t n = 0;

	for (unsigned i = 0; i < 4; i++)
		n += (uint32_t)__builtin_popcountll(co->cpus_seen[i]);
	return n ? n : co->calls->threads.meta->session.cpus;
}

/* [function id]: the thread that alone runs it, UINT32_MAX where several do */
static uint32_t *only_threads(const struct coactivity *co)
{
	const struct threads *th = &co->calls->threads;
	uint32_t n = co->calls->n_functions, *only = xmalloc((n + 1) * sizeof(*only));
	uint8_t *seen = xcalloc(n + 1, 1);

	for (uint32_t slot = 1; slot < th->slots.n; slot++) {
		const struct slot *s = &th->slots.data[slot];

		only[s->id] = seen[s->id] ? UINT32_MAX : s->thread;
		seen[s->id] = 1;
	}
	free(seen);
	return only;
}

static void add(const struct coactivity *co, struct block *b, const struct lift *l,
		const uint32_t *only)
{
	const struct coactivity_candidate *c = &co->candidates.data[l->candidate];
	const struct meta_function *f =
		c->part == COACTIVE_CPU ? NULL : &co->calls->threads.meta->functions.data[c->id];

	*vec_add(&b->coactive) = (struct coactive){
		.part = c->part,
		.id = c->id,
		.name = !f		      ? meta_process_comm(co->calls->threads.meta, c->id)
			: f->name && *f->name ? f->name
					      : f->symbol,
		.thread = f ? only[c->id] : UINT32_MAX,
		.lift = l->lift,
		.low = l->low,
		.high = l->high,
		.share = l->share,
		.slow_rate = l->slow_rate,
		.fast_rate = l->fast_rate,
	};
}

static uint8_t *takers(const struct coactivity *co)
{
	uint8_t *takes_cpu = xcalloc(co->candidates.n, 1);

	for (size_t i = 0; i < co->candidates.n; i++)
		takes_cpu[i] = co->candidates.data[i].part == COACTIVE_CPU;
	return takes_cpu;
}

/* How many other threads ran during the calls of the sample, by their time. */
static double others_running(const struct lift_sample *s)
{
	double met_ns = 0, seen_ns = 0;

	vec_for_each (&s->rows, const struct lift_row, r) {
		seen_ns += (double)r->seen_ns;
		for (uint32_t i = r->first; i < r->first + r->n; i++)
			if (s->cells.data[i].candidate == COACTIVITY_RUNNING)
				met_ns += (double)s->cells.data[i].rate * (double)r->seen_ns;
	}
	return seen_ns > 0 ? met_ns / seen_ns : NAN;
}

void coactivity_find(struct coactivity *co, struct blocks *blocks)
{
	struct lift_question q = { .n = (uint32_t)co->candidates.n,
				   .running = COACTIVITY_RUNNING,
				   .cpus = cpus(co) };
	uint32_t *only = only_threads(co);
	uint8_t *takes_cpu = takers(co);

	q.takes_cpu = takes_cpu;
	vec_for_each (blocks, struct block, b)
		q.pairs += lift_pairs(&co->blocks[b->id].sample, q.n);
	co->pairs = q.pairs;
	vec_for_each (blocks, struct block, b) {
		const struct lift_sample *s = &co->blocks[b->id].sample;
		struct lifts lifts = { 0 };

		b->coactive.measured = lift_enough(s);
		b->coactive.others = others_running(s);
		lift_find(s, &q, &lifts);
		for (size_t i = 0; i < lifts.n && i < COACTIVES_MAX; i++)
			add(co, b, &lifts.data[i], only);
		vec_release(&lifts);
	}
	free(takes_cpu);
	free(only);
}

const struct coactive *coactive_interferer(const struct coactives *all)
{
	vec_for_each (all, const struct coactive, c)
		if (c->part != COACTIVE_CPU && c->name)
			return c;
	return NULL;
}
