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

/* Returns for each function id the only thread that runs it, or UINT32_MAX if there are several. */
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
		.running = c->part == COACTIVE_AFTER ? following_name(&co->following, c->id) : NULL,
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

/*
 * Returns how many other threads ran during the calls of the sample, weighted by the time of the
 * calls.
 */
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

/* The parts of the question that are the same for all samples. */
struct asking {
	struct lift_question question;
	uint32_t *only;
	uint8_t *takes_cpu;
};

static void begin(const struct coactivity *co, struct asking *a)
{
	a->only = only_threads(co);
	a->takes_cpu = takers(co);
	a->question = (struct lift_question){
		.n = (uint32_t)co->candidates.n,
		.takes_cpu = a->takes_cpu,
		.running = COACTIVITY_RUNNING,
		.cpus = cpus(co),
		.pairs = co->pairs,
	};
}

static void end(struct asking *a)
{
	free(a->takes_cpu);
	free(a->only);
}

static void find(const struct coactivity *co, const struct asking *a, const struct lift_sample *s,
		 struct block *b)
{
	struct lifts lifts = { 0 };

	b->coactive.measured = lift_enough(s);
	b->coactive.others = others_running(s);
	lift_find(s, &a->question, &lifts);
	for (size_t i = 0; i < lifts.n && i < COACTIVES_MAX; i++)
		add(co, b, &lifts.data[i], a->only);
	vec_release(&lifts);
}

void coactivity_find(struct coactivity *co, struct blocks *blocks)
{
	struct asking a;

	vec_for_each (blocks, struct block, b)
		co->pairs += lift_pairs(&co->blocks[b->id].sample, (uint32_t)co->candidates.n);
	begin(co, &a);
	vec_for_each (blocks, struct block, b)
		find(co, &a, &co->blocks[b->id].sample, b);
	end(&a);
}

static void copy_row(const struct lift_sample *s, const struct lift_row *r, struct lift_sample *to)
{
	struct lift_row *row = vec_add(&to->rows);

	*row = *r;
	row->first = (uint32_t)to->cells.n;
	for (uint32_t i = 0; i < r->n; i++)
		*vec_add(&to->cells) = s->cells.data[r->first + i];
}

/* Returns the rows of each group in a sample of its own, by group. */
static struct lift_sample *samples_of_groups(const struct coactivity *co, uint32_t n)
{
	struct lift_sample *of = xcalloc(n + 1, sizeof(*of));

	for (uint32_t id = 0; id < co->calls->n_functions; id++) {
		const struct lift_sample *s = &co->blocks[id].sample;

		vec_for_each (&s->rows, const struct lift_row, r)
			if (r->group < n)
				copy_row(s, r, &of[r->group]);
	}
	return of;
}

static uint32_t groups_end(const struct blocks *groups)
{
	uint32_t n = 0;

	vec_for_each (groups, const struct block, g)
		n = g->id >= n ? g->id + 1 : n;
	return n;
}

void coactivity_find_groups(struct coactivity *co, struct blocks *groups)
{
	uint32_t n = groups_end(groups);
	struct lift_sample *of = samples_of_groups(co, n);
	struct asking a;

	vec_for_each (groups, struct block, g)
		co->pairs += lift_pairs(&of[g->id], (uint32_t)co->candidates.n);
	begin(co, &a);
	vec_for_each (groups, struct block, g)
		find(co, &a, &of[g->id], g);
	end(&a);
	for (uint32_t i = 0; i < n; i++) {
		vec_release(&of[i].rows);
		vec_release(&of[i].cells);
	}
	free(of);
}

const struct coactive *coactive_interferer(const struct coactives *all)
{
	vec_for_each (all, const struct coactive, c)
		if (c->part != COACTIVE_CPU && c->name)
			return c;
	return NULL;
}
