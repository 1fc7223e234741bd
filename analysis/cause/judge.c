/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/cause/judge.h"

#include "analysis/cause/callees.h"
#include "analysis/cause/cause.h"
#include "analysis/cause/coactivity_find.h"
#include "analysis/cause/samples_find.h"
#include "analysis/cause/verdict.h"
#include "analysis/cause/work.h"
#include "analysis/score/block.h"

static const struct block *whole_of(const struct block *b, const struct evidence *e)
{
	if (e->whole)
		vec_for_each (e->whole, const struct block, whole)
			if (whole->function == b->function)
				return whole;
	return b;
}

static void judge(struct block *b, const struct evidence *e)
{
	const struct block *whole = whole_of(b, e);

	b->work = work_proof(b, whole, e->meta);
	b->verdict = block_verdict(b);
	causes_find(b, e->meta);
	block_take_unexplained(b, whole, e->duration_ns);
}

void blocks_judge(struct blocks *blocks, const struct evidence *e)
{
	if (e->coactivity && e->whole)
		coactivity_find_groups(e->coactivity, blocks);
	else if (e->coactivity)
		coactivity_find(e->coactivity, blocks);
	if (e->samples)
		samples_find(e->samples, blocks);
	vec_for_each (blocks, struct block, b)
		judge(b, e);
	if (!e->whole)
		callees_pass_on(blocks);
	else
		vec_for_each (blocks, struct block, b)
			callees_pass_on_to_group(b, whole_of(b, e));
}
