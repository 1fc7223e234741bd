/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/result/timeline.h"
#include "trace/format.h"
#include "trace/record.h"

static void on_lost(void *self, const struct thread *t, const struct call_loss *loss)
{
	struct timeline *tl = self;
	struct timeline_loss *last = tl->losses.n ? vec_last(&tl->losses) : NULL;

	(void)t;
	if (loss->number == tl->last_loss)
		return;
	tl->last_loss = loss->number;
	if (!last || (loss->since_ns > last->to_ns && tl->losses.n < TIMELINE_LOSSES_MAX)) {
		*vec_add(&tl->losses) =
			(struct timeline_loss){ loss->since_ns, loss->until_ns, loss->count };
		return;
	}
	if (loss->since_ns < last->from_ns)
		last->from_ns = loss->since_ns;
	if (loss->until_ns > last->to_ns)
		last->to_ns = loss->until_ns;
	last->count += loss->count;
}

/* Collects pauses, and stretches in which switches have no records. A pause ends when the probes
 * come back; there is none after the last probes. */
static void on_record(void *self, const struct thread *t, const struct record *r)
{
	struct timeline *tl = self;

	(void)t;
	if (r->kind == REC_SWITCHES_OFF) {
		tl->unwatched_ns = r->time_ns;
	} else if (r->kind == REC_SWITCHES_ON) {
		if (tl->unwatched_ns && tl->pauses.n < TIMELINE_LOSSES_MAX)
			*vec_add(&tl->pauses) =
				(struct timeline_loss){ tl->unwatched_ns, r->time_ns, 0 };
		tl->unwatched_ns = 0;
	} else if (r->kind == REC_SET_ON) {
		if (!tl->sets_on++ && tl->paused_ns && tl->pauses.n < TIMELINE_LOSSES_MAX)
			*vec_add(&tl->pauses) =
				(struct timeline_loss){ tl->paused_ns, r->time_ns, 0 };
		tl->paused_ns = 0;
	} else if (r->kind == REC_SET_OFF && tl->sets_on && !--tl->sets_on) {
		tl->paused_ns = r->time_ns;
	}
}

struct call_visitor timeline_calls(struct timeline *tl)
{
	return slices_visitor(&tl->slices);
}

struct call_visitor timeline_losses(struct timeline *tl)
{
	return (struct call_visitor){ .self = tl, .record = on_record, .lost = on_lost };
}

void timeline_release(struct timeline *tl)
{
	slices_release(&tl->slices);
	vec_release(&tl->losses);
	vec_release(&tl->pauses);
}
