/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "analysis/calls/ended.h"
#include "analysis/evidence/samples.h"
#include "base/mem.h"
#include "trace/meta/meta.h"
#include "trace/record.h"

#define KERNEL_BIT 63

struct pending {
	uint32_t id;
	uint64_t entry_ns; /* of the open call */
	struct sample_row row;
};

struct samples_thread {
	struct {
		VEC(struct pending)
	} pending;
};

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

/* Keeps a random sample of all rows: the first SAMPLES_OF_BLOCK, then each replaces a random one
 * with the right probability (reservoir sampling). */
static void add_to_sample(struct samples *s, struct samples_function *f,
			  const struct sample_row *row)
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
			add_to_sample(s, &s->functions[c->id], &p->row);
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
	return meta_frame_at(meta, meta_stack(meta, row->stack), 0);
}
