/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/cause/verdict.h"

#include <math.h>
#include <string.h>

#include "analysis/calls/paircost.h"
#include "analysis/cause/coactivity_find.h"
#include "analysis/score/block.h"
#include "analysis/score/sci.h"
#include "analysis/threads/threads.h"
#include "analysis/threads/wait.h"
#include "base/place.h"
#include "trace/meta/meta.h"

/* Returns whether most of the block's time is idle. A block that also sleeps between tries for a
 * lock is judged by the lock. */
static bool waits_for_work(const struct block *b)
{
	return b->pools[POOL_IDLE] > block_pools_ns(b) / 2 &&
	       !(b->waits && wait_tried(b->all_threads, b->waits));
}

static bool mostly_untimed(const struct block *b)
{
	return b->untimed_calls > b->calls / 2;
}

/*
 * Whether the excess is less than a probe. The noise floor is that of functions that run all the
 * time. In others the caches are cold, and the cost of a probe varies by as much as itself: an
 * excess below this cost in each call, and small in total, cannot be distinguished from it.
 */
static bool less_than_a_probe(const struct block *b)
{
	const struct hist *h = b->sums ? &b->sums->durations : NULL;

	return h && h->count && b->cost->known && b->sci < SCI_SMALL &&
	       (double)h->sum / (double)h->count - (double)b->min_ns <
		       (double)b->cost->inner_min_ns;
}

double block_loop_share(const struct block *b)
{
	const struct block_samples *s = &b->samples;
	double own_ns;

	/* the own time of a call is unknown if a callee was not recorded */
	if (!s->loop_at || !b->observed_ns || b->self_excess_ns == BLOCK_NONE ||
	    b->self_min_ns == BLOCK_NONE)
		return 0;
	own_ns = (double)b->self_excess_ns + (double)b->timed_calls * (double)b->self_min_ns;
	return own_ns / (double)b->observed_ns * (double)s->loop_ns / (double)s->own_ns;
}

bool loop_can_be_marked(const struct meta_frame *f)
{
	return f->loop && !place_is_installed(f->object);
}

const struct meta_frame *block_loop(const struct block *b)
{
	const struct meta_frame *f = b->samples.loop_at;

	return b->verdict == VERDICT_TOO_FEW_CALLS && block_loop_share(b) > LOOP_SHARE &&
			       loop_can_be_marked(f)
		       ? f
		       : NULL;
}

/*
 * Judges a block that is all waiting. Its baseline, no wait at all, is known whatever was recorded.
 */
static enum verdict verdict_on_waiting(const struct block *b)
{
	if (isnan(b->sci) || mostly_untimed(b))
		return VERDICT_CANNOT_TELL;
	if (b->sci <= 0)
		return VERDICT_NOISE;
	return waits_for_work(b) ? VERDICT_IDLE : VERDICT_INTERFERENCE;
}

/* Judges a block whose fastest call is known. */
static enum verdict verdict_on_calls(const struct block *b)
{
	if (isnan(b->sci) || mostly_untimed(b))
		return VERDICT_CANNOT_TELL;
	if (b->never_fast && b->sci < SCI_LOW)
		return VERDICT_CANNOT_TELL;
	if (b->sci <= 0 || b->sci < FLOOR_FACTOR * b->floor || less_than_a_probe(b))
		return VERDICT_NOISE;
	if (isnan(b->floor) && b->sci < SCI_LOW)
		return VERDICT_CANNOT_TELL;
	if (!b->min_ns && b->sums)
		return VERDICT_CANNOT_TELL; /* no call takes no time, so too much was subtracted */
	if (waits_for_work(b))
		return VERDICT_IDLE;
	if (b->work.by != WORK_UNPROVEN)
		return VERDICT_WORKLOAD;
	if (b->estimated_calls != BLOCK_NONE && b->sci_low < SCI_SMALL)
		return VERDICT_CANNOT_TELL;
	return VERDICT_INTERFERENCE;
}

/*
 * Whether waiting is most of what a block loses whose fastest call is known. Then few calls tell,
 * as a call that need not wait takes no time; what they run for may be work of their own.
 */
static bool loses_by_waiting(const struct block *b)
{
	return b->fastest_known &&
	       b->pools[POOL_BLOCKED] + b->pools[POOL_IDLE] > block_pools_ns(b) / 2;
}

enum verdict block_verdict(const struct block *b)
{
	bool few = b->timed_calls < CALLS_MIN;
	enum verdict verdict;

	if (b->function && b->function->contended_only)
		return verdict_on_waiting(b);
	if (few && !loses_by_waiting(b))
		return mostly_untimed(b) && b->calls >= CALLS_MIN ? VERDICT_CANNOT_TELL
								  : VERDICT_TOO_FEW_CALLS;
	verdict = verdict_on_calls(b);
	/* a few waits prove that time was lost, but not that none was */
	return few && verdict != VERDICT_INTERFERENCE && verdict != VERDICT_IDLE
		       ? VERDICT_TOO_FEW_CALLS
		       : verdict;
}

double block_unexplained_waits_ns(const struct block *b)
{
	return b->all_threads && !b->all_threads->have_waking ? b->unexplained[POOL_BLOCKED] : 0;
}

bool block_waits_for_unknown(const struct block *b)
{
	return block_unexplained_waits_ns(b) > b->unexplained_ns / 2;
}

/*
 * Returns the time that nothing explains. Code that other threads run only during the slow calls
 * disturbs them in some way, so no running time is unexplained then. Where no record says who ended
 * a wait, as without root, what blocks for an unknown reason may as well wait for work.
 */
static double unexplained_ns(const struct block *b, const struct block *whole)
{
	if (!b->off_known)
		return 0;
	return block_unexplained_waits_ns(b) +
	       (coactive_interferer(&whole->coactive) ? 0 : b->unexplained[POOL_RUNNING]);
}

bool block_is_unexplained(const struct block *b)
{
	return b->verdict == VERDICT_CANNOT_TELL && b->unexplained_threads > 0;
}

void block_take_unexplained(struct block *b, const struct block *whole, uint64_t duration_ns)
{
	double own = (double)b->self_excess_ns, unexplained = unexplained_ns(b, whole), lost;

	b->unexplained_threads = isnan(b->lost_threads) ? NAN : 0;
	if (b->verdict != VERDICT_INTERFERENCE || b->self_excess_ns == BLOCK_NONE || !(own > 0) ||
	    !duration_ns || !(unexplained + b->harmless_ns > 0))
		return;
	if (unexplained > block_pools_ns(b) / 2)
		b->verdict = VERDICT_CANNOT_TELL;
	if (unexplained > own)
		unexplained = own;
	b->unexplained_ns = unexplained;
	lost = b->lost_share * own - unexplained - b->harmless_ns;
	b->lost_share = lost > 0 ? lost / own : 0;
	b->lost_threads = b->lost_share * own / (double)duration_ns;
	b->unexplained_threads = unexplained / (double)duration_ns;
}
