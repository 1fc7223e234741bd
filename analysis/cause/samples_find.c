/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/cause/samples_find.h"

#include <string.h>

#include "analysis/evidence/ran.h"
#include "analysis/evidence/samples.h"
#include "analysis/score/block.h"
#include "analysis/threads/standard.h"
#include "trace/meta/meta.h"

/* The place that most of the spinning samples share. */
struct votes {
	const struct meta_frame *frame;
	uint32_t n;
};

/* Whether the thread waits without sleeping, by the code around the place, or as the standard
 * function there is known. */
static bool spins(const struct meta *meta, const struct sample_row *row,
		  const struct meta_frame *at)
{
	return at && ((at->spins && !row->kernel) ||
		      standard_spins(meta, &meta->stacks.data[row->stack]));
}

/* barrier: the function itself waits at barriers. */
static void add_slow(const struct meta *meta, struct block_samples *b, const struct sample_row *row,
		     const struct meta_frame *at, bool barrier, struct votes *votes)
{
	b->slow++;
	if (!spins(meta, row, at))
		return;
	if (barrier || standard_wait_in(meta, &meta->stacks.data[row->stack]) == STANDARD_BARRIER) {
		b->slow_at_barrier++;
		return;
	}
	b->slow_spins++;
	/* majority vote by Boyer and Moore, if there is a majority */
	if (!votes->n)
		votes->frame = at;
	votes->n += votes->frame == at ? 1 : (uint32_t)-1;
}

/* Returns the frame of the block's own function, or NULL if it is not known to be in a loop. */
static const struct meta_frame *loop_of(const struct meta *meta, const struct block *b,
					const struct sample_row *row)
{
	const struct meta_stack *stack = meta_stack(meta, row->stack);

	for (uint32_t i = 0; stack && i < stack->n_frames; i++) {
		const struct meta_frame *f = meta_frame_at(meta, stack, i);

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

static bool has_libc(const struct meta *meta)
{
	vec_for_each (&meta->frames, const struct meta_frame, f)
		if (standard_is_libc(f->object))
			return true;
	return false;
}

static bool is_in_fault(const struct meta *meta, const struct sample_row *row, bool libc)
{
	return row->kernel && libc && ran_is_in_fault(meta, row->stack);
}

static void add_faults(struct block_samples *b, const struct sample_row *row, bool is_in_fault,
		       uint64_t fast_max_ns)
{
	if (!is_in_fault)
		return;
	b->faults_ns += row->weight_ns;
	if (row->duration_ns <= fast_max_ns)
		b->fast_faults_ns += row->weight_ns;
}

static void add_up(const struct samples *s, struct block *b, bool libc)
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
		add_faults(&b->samples, row, is_in_fault(meta, row, libc), fast_max_ns);
		add_loop(&b->samples, row, loop_of(meta, b, row), &loops);
		if (row->duration_ns >= slow_min_ns)
			add_slow(meta, &b->samples, row, at,
				 block_standard_wait(b) == STANDARD_BARRIER, &votes);
		else if (row->duration_ns <= fast_max_ns)
			b->samples.fast++;
	}
	b->samples.spins_at = votes.frame;
	b->samples.loop_at = loops.frame;
}

void samples_find(const struct samples *s, struct blocks *blocks)
{
	const bool libc = has_libc(s->calls->threads.meta);

	vec_for_each (blocks, struct block, b)
		add_up(s, b, libc);
}
