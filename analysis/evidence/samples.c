/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "analysis/calls/ended.h"
#include "analysis/evidence/samples.h"
#include "analysis/evidence/samples_internal.h"
#include "analysis/score/block.h"
#include "base/mem.h"
#include "trace/meta/meta.h"
#include "trace/record.h"

#define KERNEL_BIT 63

void samples_init(struct samples *s, const struct calls *calls)
{
	*s = (struct samples){ .calls = calls, .random = 88172645463325252ull };
	s->functions = xcalloc(calls->n_functions + 1, sizeof(*s->functions));
}

void samples_release(struct samples *s)
{
	vec_for_each (&s->threads, struct samples_thread, t)
		vec_release(&t->pending);
	vec_release(&s->threads);
	for (uint32_t id = 0; s->functions && id < s->calls->n_functions; id++)
		vec_release(&s->functions[id].rows);
	free(s->functions);
	*s = (struct samples){ 0 };
}

static struct samples_thread *thread_of(struct samples *s, const struct thread *t)
{
	while (s->threads.n <= t->index)
		(void)vec_add(&s->threads);
	return &s->threads.data[t->index];
}

static void on_record(void *self, const struct thread *thread, const struct record *r)
{
	struct samples *s = self;
	struct samples_thread *t;

	if (r->kind != REC_SAMPLE || !thread || !thread->n_open)
		return;
	t = thread_of(s, thread);
	for (uint32_t i = 0; i < thread->n_open; i++) {
		const struct call *c = &thread->open[i];

		if (c->recursive || t->pending.n == SAMPLES_PENDING)
			continue;
		*vec_add(&t->pending) = (struct pending){
			.id = c->id,
			.entry_ns = c->entry_ns,
			.row = { .weight_ns = r->values[0],
				 .stack = (uint32_t)r->values[2],
				 .own = i + 1 == thread->n_open,
				 .kernel = r->values[1] >> KERNEL_BIT },
		};
	}
}

/* The first SAMPLES_OF_BLOCK, then each in place of a random one: a fair choice of all. */
static void keep(struct samples *s, struct samples_function *f, const struct sample_row *row)
{
	uint64_t at;

	f->seen++;
	if (f->rows.n < SAMPLES_OF_BLOCK) {
		*vec_add(&f->rows) = *row;
		return;
	}
	s->random ^= s->random << 13;
	s->random ^= s->random >> 7;
	s->random ^= s->random << 17;
	at = s->random % f->seen;
	if (at < SAMPLES_OF_BLOCK)
		f->rows.data[at] = *row;
}

static void on_call(void *self, const struct thread *thread, const struct call *c)
{
	struct samples *s = self;
	struct samples_thread *t =
		thread->index < s->threads.n ? &s->threads.data[thread->index] : NULL;
	size_t kept = 0;

	if (!t || !t->pending.n || c->recursive)
		return;
	for (size_t i = 0; i < t->pending.n; i++) {
		struct pending *p = &t->pending.data[i];

		if (p->id != c->id || p->entry_ns != c->entry_ns) {
			t->pending.data[kept++] = *p;
			continue;
		}
		p->row.duration_ns = c->duration_ns;
		if (c->end == CALL_TIMED)
			keep(s, &s->functions[c->id], &p->row);
	}
	t->pending.n = kept;
}

static void on_sum_up(void *self, const struct ended_threads *e)
{
	struct samples *s = self;

	for (size_t k = 0; k < e->n; k++)
		if (e->threads[k]->index < s->threads.n)
			vec_release(&s->threads.data[e->threads[k]->index].pending);
}

struct call_visitor samples_visitor(struct samples *s)
{
	return (struct call_visitor){
		.self = s, .call = on_call, .record = on_record, .sum_up = on_sum_up
	};
}

const struct meta_frame *samples_innermost(const struct meta *meta, const struct sample_row *row)
{
	const struct meta_stack *stack =
		row->stack && row->stack < meta->stacks.n ? &meta->stacks.data[row->stack] : NULL;

	return stack && stack->n_frames && stack->frames[0] < meta->frames.n
		       ? &meta->frames.data[stack->frames[0]]
		       : NULL;
}

/* The place that most of the spinning samples share. */
struct votes {
	const struct meta_frame *frame;
	uint32_t n;
};

static void add_slow(struct block_samples *b, const struct sample_row *row,
		     const struct meta_frame *at, struct votes *votes)
{
	b->slow++;
	if (row->kernel || !at || !at->spins)
		return;
	b->slow_spins++;
	/* Boyer and Moore: the majority, where there is one. */
	if (!votes->n)
		votes->frame = at;
	votes->n += votes->frame == at ? 1 : (uint32_t)-1;
}

/* The block's own function on the stack, unless that is not known to be in a loop. */
static const struct meta_frame *loop_of(const struct meta *meta, const struct block *b,
					const struct sample_row *row)
{
	const struct meta_stack *stack =
		row->stack && row->stack < meta->stacks.n ? &meta->stacks.data[row->stack] : NULL;

	for (uint32_t i = 0; stack && i < stack->n_frames; i++) {
		const struct meta_frame *f = stack->frames[i] < meta->frames.n
						     ? &meta->frames.data[stack->frames[i]]
						     : NULL;

		if (f && !f->inlined && !strcmp(f->symbol, b->name))
			return f->loop ? f : NULL;
	}
	return NULL;
}

static void add_loop(struct block_samples *b, const struct sample_row *row,
		     const struct meta_frame *at, struct votes *votes)
{
	if (!at)
		return;
	if (!votes->n)
		votes->frame = at;
	votes->n += votes->frame->loop == at->loop ? 1 : (uint32_t)-1;
	b->loop_ns += row->weight_ns;
}

static void add_up(const struct samples *s, struct block *b)
{
	const struct meta *meta = s->calls->threads.meta;
	uint64_t fast_max_ns = block_fast_max_ns(b), slow_min_ns = block_slow_min_ns(b);
	struct votes votes = { 0 }, loops = { 0 };

	vec_for_each (&s->functions[b->id].rows, const struct sample_row, row) {
		const struct meta_frame *at = samples_innermost(meta, row);

		if (!row->own)
			continue;
		b->samples.own++;
		b->samples.own_ns += row->weight_ns;
		b->samples.kernel_ns += row->kernel ? row->weight_ns : 0;
		add_loop(&b->samples, row, loop_of(meta, b, row), &loops);
		if (row->duration_ns >= slow_min_ns)
			add_slow(&b->samples, row, at, &votes);
		else if (row->duration_ns <= fast_max_ns)
			b->samples.fast++;
	}
	b->samples.spins_at = votes.frame;
	b->samples.loop_at = loops.frame;
}

void samples_find(const struct samples *s, struct blocks *blocks)
{
	vec_for_each (blocks, struct block, b)
		add_up(s, b);
}
