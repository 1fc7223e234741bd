// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/cause/by_wait.h"

#include <inttypes.h>

#include "analysis/score/block.h"
#include "analysis/score/pools.h"
#include "analysis/score/sci.h"
#include "analysis/threads/threads.h"
#include "analysis/threads/wait.h"
#include "base/text.h"
#include "trace/meta/meta.h"

#define SWITCHING_CONFIDENCE 0.8 /* lower than for a record, because it comes from a slope */
/* of the blocked time: a smaller share is not worth naming a thread */
#define RELEASER_SHARE 0.01

static void released_by(const struct block *b, const struct meta *meta,
			const struct wait_part *part, struct text *out)
{
	const struct wait_waker *w = &part->waker;
	const struct thread *t;

	if (!w->sleeps || w->thread == SLEEP_NOBODY ||
	    (double)w->ns < RELEASER_SHARE * (double)part->ns)
		return;
	t = b->all_threads->all.data[w->thread];
	text_printf(out, "; %.0f%% of it ended by thread %u%s%s",
		    100 * (double)w->ns / (double)part->ns, t->tid, *t->comm ? " " : "", t->comm);
	if (w->function < meta->functions.n && meta->functions.data[w->function].name)
		text_printf(out, " in %s", meta->functions.data[w->function].name);
}

static double asleep(const struct block *b, const struct meta *meta, const struct wait_part *part,
		     enum cause_pool pool, struct text *evidence)
{
	double share = pool == POOL_IDLE ? part->idle_share : part->lost_share;
	char time[TEXT_NUMBER];

	if (!(share > 0))
		return 0;
	text_printf(evidence, "%s: %" PRIu64 " sleep%s, %s on average",
		    wait_cause_of(b->all_threads, part->largest).fact, part->sleeps,
		    part->sleeps == 1 ? "" : "s", text_time(time, part->ns / part->sleeps));
	if (part->largest->word != SLEEP_NOBODY) {
		text_add(evidence, "; ");
		futex_facts(&b->all_threads->futexes.all.data[part->largest->word], evidence);
	}
	released_by(b, meta, part, evidence);
	return b->pools[pool] * share;
}

/* Returns how much exceeds what the fastest call has. */
static double more_often(uint64_t all, uint64_t fastest, uint64_t calls)
{
	double more = (double)all - (double)fastest * (double)calls;

	return more > 0 ? more : 0;
}

static double switching(const struct block *b, const struct wait_part *part, struct text *evidence)
{
	const struct sci_function *f = b->sums;
	const struct offcpu *fastest = &b->own_off_fastest;
	struct switching_cost cost = switching_cost(&f->switching);
	double slept = cost.sleep_ns * part->sleeps_share *
		       more_often(f->own_off.sleeps, fastest->sleeps, f->own_timed);
	double woke = cost.wake_ns * part->wakes_share *
		      more_often(f->own_off.wakes, fastest->wakes, f->own_timed);
	char time[TEXT_NUMBER];

	if (slept > 0)
		text_printf(evidence, "each sleep comes with %s on a CPU, to begin and to end it",
			    text_time(time, (uint64_t)cost.sleep_ns));
	if (woke > 0)
		text_printf(evidence, "%seach wakeup of another thread comes with %s on a CPU",
			    slept > 0 ? "; " : "", text_time(time, (uint64_t)cost.wake_ns));
	return block_weight_calls(b) * (slept + woke);
}

double cause_wait(const struct block *b, const struct meta *meta, const char *kind,
		  enum cause_pool pool, double *confidence, struct text *evidence)
{
	struct wait_part part;

	if (!b->waits || !b->waits->n)
		return 0;
	part = wait_part(b->all_threads, b->waits, kind);
	*confidence = part.confidence;
	if (pool != POOL_RUNNING)
		return asleep(b, meta, &part, pool, evidence);
	*confidence *= SWITCHING_CONFIDENCE;
	return b->sums ? switching(b, &part, evidence) : 0;
}
