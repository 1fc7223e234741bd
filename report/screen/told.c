// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/screen/told.h"

#include <stdbool.h>
#include <string.h>

#include "analysis/score/block.h"
#include "report/screen/text.h"

#define STORY_SHARE 0.3	 /* of the lost time: a smaller share is not the main cause */
#define STORY_WHOLE 0.75 /* if the causes so far explain less, the next one is named too, … */
#define STORY_NEXT  0.1	 /* … unless it is smaller than this */

static double sum_of(const double ns[CAUSE_POOLS])
{
	double own = 0;

	for (unsigned p = POOL_PREEMPTED; p < CAUSE_POOLS; p++)
		own += ns[p];
	return own;
}

/* Returns the pools of what the block loses: of a sequence, what it owns of its calls' lost time.
 */
static const double *own_pools(const struct block *b)
{
	return report_owns(b) ? b->owned_ns : b->pools;
}

static double own_ns(const struct block *b)
{
	return sum_of(own_pools(b));
}

bool report_owns(const struct block *b)
{
	return sum_of(b->owned_ns) > 0;
}

unsigned told_largest_pool(const struct block *b)
{
	const double *pools = own_pools(b);
	unsigned best = POOL_PREEMPTED;

	for (unsigned p = POOL_PREEMPTED; p < CAUSE_POOLS; p++)
		if (pools[p] > pools[best])
			best = p;
	return best;
}

/* Returns how much of the block's own time is lost, or 0 if its verdict is not interference. */
static double lost_ns(const struct block *b)
{
	if (b->verdict != VERDICT_INTERFERENCE)
		return 0;
	if (report_owns(b))
		return own_ns(b);
	return own_ns(b) - b->pools[POOL_IDLE] - b->harmless_ns - b->unexplained_ns;
}

double report_cause_share(const struct block *b, const struct cause *c)
{
	double lost = lost_ns(b), all = block_pools_ns(b), share;

	share = lost > 0 ? c->lost * all / lost : c->share * all / (all - b->pools[POOL_CALLEE]);
	return share < 1 ? share : 1;
}

static bool is_named(const struct cause *c)
{
	return strcmp(c->kind, "unknown") != 0 && strcmp(c->kind, "callee") != 0;
}

static bool is_told(const struct told *told, const struct cause *c)
{
	for (size_t i = 0; i < told->n; i++)
		if (told->causes[i] == c)
			return true;
	return false;
}

/* Returns the largest cause that is not named yet, or NULL if no other has a name. */
static const struct cause *largest(const struct block *b, const struct told *told)
{
	const struct cause *best = NULL;

	vec_for_each (&b->causes, const struct cause, c)
		if (is_named(c) && !is_told(told, c) &&
		    (!best || report_cause_share(b, c) > report_cause_share(b, best)))
			best = c;
	return best;
}

/* Whether the cause is larger than what is not explained. */
static bool is_largest(const struct block *b, const struct cause *c, double share)
{
	double unexplained = 1;

	if (!report_owns(b))
		return report_tells(b, c);
	vec_for_each (&b->causes, const struct cause, other)
		unexplained -= report_cause_share(b, other);
	return share > unexplained;
}

struct told report_told(const struct block *b)
{
	struct told told = { 0 };

	while (told.n < TOLD_MOST && told.share < STORY_WHOLE) {
		const struct cause *c = largest(b, &told);
		double share = c ? report_cause_share(b, c) : 0;

		if (!c || share < (told.n ? STORY_NEXT : STORY_SHARE) ||
		    (!told.n && !is_largest(b, c, share)))
			break;
		told.causes[told.n++] = c;
		told.share += share;
	}
	if (told.share > 1)
		told.share = 1;
	return told;
}

const struct cause *report_main_cause(const struct block *b)
{
	return report_told(b).causes[0];
}

double report_told_share(const struct block *b)
{
	struct told told = report_told(b);
	double own = own_ns(b);

	if (told.n)
		return told.share;
	return b->off_known && own > 0 ? own_pools(b)[told_largest_pool(b)] / own : 1;
}
