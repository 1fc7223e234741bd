/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/result/interval.h"
#include "analysis/cause/judge.h"
#include "analysis/result/result.h"
#include "analysis/score/block.h"
#include "trace/meta/meta.h"

/* Returns how long the thread lived in the interval. */
static uint64_t observed_ns(void *ctx, const struct thread *t)
{
	const struct interval *iv = ctx;
	uint64_t from = t->born_ns > iv->since_ns ? t->born_ns : iv->since_ns;
	uint64_t to = t->dead && t->end_ns < iv->until_ns ? t->end_ns : iv->until_ns;

	return to > from ? to - from : 0;
}

static void begin_part(struct interval *iv, uint64_t since_ns)
{
	iv->since_ns = iv->whole->calls.threads.part_ns = since_ns;
	iv->until_ns = UINT64_MAX;
	sci_init(&iv->sums, &iv->whole->calls, iv->whole->meta);
	iv->sums.observed_ns = observed_ns;
	iv->sums.observed_ctx = iv;
}

void interval_init(struct interval *iv, struct result *whole)
{
	struct call_visitor sums;

	*iv = (struct interval){ .whole = whole };
	begin_part(iv, whole->start_ns);
	sums = sci_visitor(&iv->sums);
	calls_add_visitor(&whole->calls, &sums);
}

void interval_release(struct interval *iv)
{
	if (iv->whole)
		sci_release(&iv->sums);
	*iv = (struct interval){ 0 };
}

static uint64_t fastest_so_far(void *ctx, const struct block *b, bool own)
{
	const struct interval *iv = ctx;
	const struct sci_function *f = sci_function(&iv->whole->sci, b->id);

	return !f ? BLOCK_NONE : own ? f->own_min_ns : f->min_ns;
}

/*
 * Gives the off-CPU time of the whole's fastest call, because the interval's own fastest call may
 * be another one.
 */
static void off_of_fastest(void *ctx, const struct block *b, bool own, struct offcpu *off)
{
	const struct interval *iv = ctx;
	const struct sci_function *f = sci_function(&iv->whole->sci, b->id);

	if (f)
		*off = own ? f->own_off_fastest : f->off_fastest;
}

void interval_blocks(struct interval *iv, uint64_t now_ns, struct blocks *blocks)
{
	struct block_options o = {
		.duration_ns = now_ns - iv->since_ns,
		.period = meta_period(iv->whole->meta),
		.baseline = fastest_so_far,
		.baseline_off = off_of_fastest,
		.baseline_ctx = iv,
		.observed_ns = observed_ns,
		.observed_ctx = iv,
	};

	iv->until_ns = now_ns;
	blocks_build(blocks, &iv->sums, &o);
	blocks_judge(blocks,
		     &(struct evidence){ .meta = iv->whole->meta, .duration_ns = o.duration_ns });
}

void interval_next(struct interval *iv)
{
	sci_release(&iv->sums);
	begin_part(iv, iv->until_ns);
}
