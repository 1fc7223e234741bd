/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/timeline.h"
#include "base/mem.h"

static void ignore_call(void *self, const struct thread *t, const struct call *c)
{
	(void)self, (void)t, (void)c;
}

static void add_loss(struct timeline *tl, uint64_t from_ns, uint64_t to_ns, uint64_t count)
{
	struct timeline_loss *last = tl->losses.n ? vec_last(&tl->losses) : NULL;

	if (last && (from_ns <= last->to_ns || tl->losses.n == TIMELINE_LOSSES_MAX)) {
		last->to_ns = to_ns > last->to_ns ? to_ns : last->to_ns;
		last->count += count;
		return;
	}
	*vec_add(&tl->losses) = (struct timeline_loss){ from_ns, to_ns, count };
}

/* The stretch is by how much the thread's lost time grew, up to its end. */
static void on_lost(void *self, const struct thread *t, uint64_t count, uint64_t loss)
{
	struct timeline *tl = self;
	uint64_t length;

	while (tl->lost_ns.n <= t->index)
		*vec_add(&tl->lost_ns) = 0;
	length = t->lost_ns - tl->lost_ns.data[t->index];
	tl->lost_ns.data[t->index] = t->lost_ns;
	add_loss(tl, t->lost_until_ns - length, t->lost_until_ns,
		 loss == tl->last_loss ? 0 : count);
	tl->last_loss = loss;
}

struct call_visitor timeline_calls(struct timeline *tl)
{
	return slices_visitor(&tl->slices);
}

struct call_visitor timeline_losses(struct timeline *tl)
{
	return (struct call_visitor){ .self = tl, .call = ignore_call, .lost = on_lost };
}

void timeline_release(struct timeline *tl)
{
	slices_release(&tl->slices);
	vec_release(&tl->losses);
	vec_release(&tl->lost_ns);
}
