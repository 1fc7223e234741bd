/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/cause/callees.h"

#include <string.h>

#include "analysis/score/block.h"
#include "analysis/score/sci.h"

#define OWN_MOST 0.1 /* of the excess: a caller that loses more itself keeps its verdict */

double callee_excess(const struct sci_edge *e)
{
	double least = (double)e->min_ns * (double)e->calls;

	return (double)e->ns > least ? (double)e->ns - least : 0;
}

static const struct block *block_of(const struct blocks *functions, uint32_t id)
{
	vec_for_each (functions, const struct block, b)
		if (b->id == id)
			return b;
	return NULL;
}

/* Returns the share, 0 to 1, of the excess in callees that belongs to callees with that verdict;
 * VERDICT_NOISE: only those that ispot itself slows. */
static double share_of_callees(const struct block *b, const struct blocks *functions,
			       enum verdict verdict)
{
	double all = 0, part = 0;

	for (uint32_t i = 0; i <= b->sums->n_edges; i++) {
		const struct sci_edge *e = &b->sums->edges[i];
		const struct block *callee = i ? block_of(functions, e->id) : NULL;
		double excess = callee_excess(e);

		all += excess;
		if (callee && callee->verdict == verdict &&
		    (verdict != VERDICT_NOISE || callee->of_recorder))
			part += excess;
	}
	return all > 0 ? part / all : 0;
}

/* Whether the block loses hardly any time itself, because its slow time is in its callees. */
static bool is_callees(const struct block *b)
{
	return b->verdict == VERDICT_INTERFERENCE && b->sums && b->pools[POOL_CALLEE] > 0 &&
	       b->self_excess_ns != BLOCK_NONE &&
	       b->lost_share * (double)b->self_excess_ns <= OWN_MOST * block_pools_ns(b);
}

/* Whether ispot itself takes most of the block's slow time. */
static bool is_recorders(const struct block *b)
{
	vec_for_each (&b->causes, const struct cause, c)
		if (!strcmp(c->kind, "ispot"))
			return c->share > 0.5;
	return false;
}

static bool follow(struct block *b, const struct blocks *functions)
{
	double half = block_pools_ns(b) / 2, in_callees = b->pools[POOL_CALLEE];
	double work_ns, noise_ns;

	if (!is_callees(b))
		return false;
	work_ns = b->harmless_ns + in_callees * share_of_callees(b, functions, VERDICT_WORKLOAD);
	noise_ns = in_callees * share_of_callees(b, functions, VERDICT_NOISE);
	if (b->pools[POOL_IDLE] + in_callees * share_of_callees(b, functions, VERDICT_IDLE) > half)
		b->verdict = VERDICT_IDLE;
	else if (work_ns + noise_ns > half)
		b->verdict = VERDICT_WORKLOAD;
	b->of_recorder = b->verdict == VERDICT_WORKLOAD && (noise_ns > work_ns || is_recorders(b));
	if (b->of_recorder)
		b->verdict = VERDICT_NOISE;
	return b->verdict != VERDICT_INTERFERENCE;
}

void callees_pass_on(struct blocks *functions)
{
	bool any = true;

	while (any) {
		any = false;
		vec_for_each (functions, struct block, b)
			any |= follow(b, functions);
	}
}

void callees_pass_on_to_group(struct block *group, const struct block *whole)
{
	if (!is_callees(group) || group->pools[POOL_CALLEE] <= block_pools_ns(group) / 2)
		return;
	if (whole->verdict == VERDICT_IDLE || whole->verdict == VERDICT_WORKLOAD ||
	    whole->of_recorder)
		group->verdict = whole->verdict;
}
