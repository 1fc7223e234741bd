// SPDX-License-Identifier: GPL-3.0-or-later
#include <stdlib.h>

#include "import/internal.h"

struct happening *order_add(struct order *o)
{
	struct happening *h = vec_add(&o->waiting);

	h->order = o->n_added++;
	return h;
}

static void happening_release(struct happening *h)
{
	free(h->values);
	free(h->text);
}

static int by_time(const void *a, const void *b)
{
	const struct happening *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/*
 * perf reads the rings of all CPUs in turn and marks the end of each turn: after a mark nothing
 * can come that is earlier than the latest of the turn before.
 */
void order_round(struct order *o, bool end, void (*happened)(void *ctx, const struct happening *h),
		 void *ctx)
{
	uint64_t complete_ns = end ? UINT64_MAX : o->complete_ns;
	size_t n = 0;

	vec_sort(&o->waiting, by_time);
	while (n < o->waiting.n && o->waiting.data[n].time_ns <= complete_ns) {
		happened(ctx, &o->waiting.data[n]);
		happening_release(&o->waiting.data[n++]);
	}
	if (o->waiting.n)
		o->latest_ns = vec_last(&o->waiting)->time_ns > o->latest_ns
				       ? vec_last(&o->waiting)->time_ns
				       : o->latest_ns;
	o->complete_ns = o->latest_ns;
	if (n)
		memmove(o->waiting.data, o->waiting.data + n,
			(o->waiting.n - n) * sizeof(*o->waiting.data));
	o->waiting.n -= n;
}

void order_release(struct order *o)
{
	vec_for_each (&o->waiting, struct happening, h)
		happening_release(h);
	vec_release(&o->waiting);
}
