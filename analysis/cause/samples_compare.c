/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/cause/samples_compare.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/evidence/samples.h"
#include "analysis/score/block.h"
#include "analysis/stat/stats.h"
#include "base/hash.h"
#include "base/mem.h"
#include "trace/meta/meta.h"

#define ALPHA	   0.05
#define PLACES_MAX 8

/* Places of one kind while samples are counted. */
struct tally {
	const struct meta *meta;
	struct strtab names;
	struct places places; /* [name number] */
	uint32_t last;	      /* the last sample that counted, so that recursion counts once */
	struct {
		VEC(uint32_t)
	} seen_in; /* [name number] */
};

static void count(struct tally *t, const char *name, const struct meta_frame *frame, bool slow,
		  uint32_t sample)
{
	uint32_t i = strtab_add(&t->names, name);

	while (t->places.n <= i) {
		vec_add(&t->places)->frame = frame;
		*vec_add(&t->seen_in) = UINT32_MAX;
	}
	if (t->seen_in.data[i] == sample)
		return;
	t->seen_in.data[i] = sample;
	*(slow ? &t->places.data[i].slow : &t->places.data[i].fast) += 1;
}

static void count_line(struct tally *t, const struct meta_frame *f, bool kernel, bool slow,
		       uint32_t sample)
{
	char *name;

	if (kernel || !f) {
		count(t, kernel ? "[kernel]" : "?", NULL, slow, sample);
		return;
	}
	name = xasprintf("%s:%s:%u", f->symbol, f->file, f->line);
	count(t, name, f, slow, sample);
	free(name);
}

static bool is_block(const struct meta_frame *f, const struct block *b)
{
	return f && f->symbol &&
	       (!strcmp(f->symbol, b->name) || !strcmp(f->symbol, b->function->symbol));
}

/* Counts the frames inside the block's own frame, if the stack has it. */
static void count_callees(struct tally *t, const struct block *b, uint32_t id, bool slow,
			  uint32_t sample)
{
	const struct meta *meta = t->meta;
	const struct meta_stack *stack = meta_stack(meta, id);
	uint32_t n = 0;

	while (stack && n < stack->n_frames && !is_block(meta_frame_at(meta, stack, n), b))
		n++;
	if (!stack || n == stack->n_frames)
		return;
	for (uint32_t i = 0; i < n; i++) {
		const struct meta_frame *f = meta_frame_at(meta, stack, i);

		if (f && f->symbol && *f->symbol)
			count(t, f->symbol, f, slow, sample);
	}
}

static int most_first(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->slow_ns - x->fast_ns != y->slow_ns - y->fast_ns)
		return x->slow_ns - x->fast_ns < y->slow_ns - y->fast_ns ? 1 : -1;
	return 0;
}

struct scale {
	double slow_ns, fast_ns; /* time of a call that one sample stands for */
	double difference_ns;
};

/* Keeps the places in which slow calls are longer, beyond chance. */
static void judge(struct tally *t, const struct scale *scale, struct places *out)
{
	double alpha = t->places.n ? ALPHA / (double)t->places.n : ALPHA, low, high;

	vec_for_each (&t->places, struct place, p) {
		stats_poisson(p->slow, alpha, &low, &high);
		p->slow_ns = p->slow * scale->slow_ns;
		p->slow_low_ns = low * scale->slow_ns;
		p->slow_high_ns = high * scale->slow_ns;
		stats_poisson(p->fast, alpha, &low, &high);
		p->fast_ns = p->fast * scale->fast_ns;
		p->fast_high_ns = high * scale->fast_ns;
		p->share = scale->difference_ns > 0
				   ? (p->slow_ns - p->fast_ns) / scale->difference_ns
				   : 0;
		if (p->share > 1)
			p->share = 1;
		if (p->slow_low_ns > p->fast_high_ns)
			*vec_add(out) = *p;
	}
	vec_sort(out, most_first);
	if (out->n > PLACES_MAX)
		out->n = PLACES_MAX;
	vec_release(&t->places);
	vec_release(&t->seen_in);
	strtab_release(&t->names);
}

void samples_compare(const struct samples *s, const struct block *b, uint64_t slow_calls,
		     uint64_t fast_calls, double difference_ns, struct differences *d)
{
	const struct samples_function *f = &s->functions[b->id];
	struct tally lines = { .meta = s->calls->threads.meta }, callees = lines;
	struct scale scale = { .difference_ns = difference_ns };
	uint64_t fast_max_ns = block_fast_max_ns(b), slow_min_ns = block_slow_min_ns(b);
	double weight = 0, kept = f->rows.n ? (double)f->seen / (double)f->rows.n : 1;

	for (uint32_t i = 0; i < f->rows.n; i++) {
		const struct sample_row *row = &f->rows.data[i];
		bool slow = row->duration_ns >= slow_min_ns;

		weight += (double)row->weight_ns / (double)f->rows.n;
		if (!slow && row->duration_ns > fast_max_ns)
			continue;
		*(slow ? &d->slow : &d->fast) += 1;
		count_line(&lines, samples_innermost(lines.meta, row), row->kernel, slow, i);
		count_callees(&callees, b, row->stack, slow, i);
	}
	scale.slow_ns = slow_calls ? weight * kept / (double)slow_calls : 0;
	scale.fast_ns = fast_calls ? weight * kept / (double)fast_calls : 0;
	judge(&lines, &scale, &d->lines);
	judge(&callees, &scale, &d->callees);
	if (d->slow < SAMPLES_MIN)
		d->lines.n = d->callees.n = 0;
}

void differences_release(struct differences *d)
{
	vec_release(&d->lines);
	vec_release(&d->callees);
}
