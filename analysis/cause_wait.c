// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/cause_wait.h"

#include <inttypes.h>

#include "analysis/block.h"
#include "analysis/threads.h"
#include "analysis/wait.h"
#include "base/text.h"
#include "trace/meta.h"

#define RELEASER_SHARE 0.01 /* of the time asleep: less is not worth naming a thread */

static void released_by(const struct block *b, const struct meta *meta,
			const struct wait_part *part, struct text *out)
{
	const struct wait_waker *w = &part->waker;
	const struct thread *t;

	if (!w->sleeps || w->thread == SLEEP_NOBODY ||
	    (double)w->ns < RELEASER_SHARE * (double)part->ns)
		return;
	t = b->all_threads->all.data[w->thread];
	text_printf(out, "; %.0f %% of it ended by thread %u%s%s",
		    100 * (double)w->ns / (double)part->ns, t->tid, *t->comm ? " " : "", t->comm);
	if (w->function < meta->functions.n && meta->functions.data[w->function].name)
		text_printf(out, " in %s", meta->functions.data[w->function].name);
}

double cause_wait(const struct block *b, const struct meta *meta, const char *kind,
		  enum cause_pool pool, double *confidence, struct text *evidence)
{
	struct wait_part part;
	char time[TEXT_NUMBER];
	double share;

	if (!b->waits || !b->waits->n)
		return 0;
	part = wait_part(b->all_threads, b->waits, kind);
	share = pool == POOL_IDLE ? part.idle_share : part.lost_share;
	if (!(share > 0))
		return 0;
	*confidence = part.confidence;
	text_printf(evidence, "%s: %" PRIu64 " sleep%s, %s on average",
		    wait_cause_of(b->all_threads, part.largest).fact, part.sleeps,
		    part.sleeps == 1 ? "" : "s", text_time(time, part.ns / part.sleeps));
	if (part.largest->word != SLEEP_NOBODY) {
		text_add(evidence, "; ");
		word_facts(&b->all_threads->futexes.all.data[part.largest->word], evidence);
	}
	released_by(b, meta, &part, evidence);
	return b->pools[pool] * share;
}
