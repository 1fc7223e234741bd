/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/fleet/trio_rows.h"

void trios_add(struct trios *t, const struct corunner_range *range)
{
	if (range->class == CORUNNER_CORE || range->class == CORUNNER_CACHE)
		*vec_add(&t->near) = *range;
}

static int by_app(const void *a, const void *b)
{
	const struct corunner_range *x = a, *y = b;

	if (x->app != y->app)
		return x->app < y->app ? -1 : 1;
	return (x->first > y->first) - (x->first < y->first);
}

/* Merges the ranges of one application that overlap or touch, whatever their classes. */
static void unite(struct trios *t)
{
	struct corunner_range *ranges = t->near.data;
	size_t n = 0;

	vec_sort(&t->near, by_app);
	t->firsts.n = 0;
	for (size_t i = 0; i < t->near.n; i++) {
		struct corunner_range *last = n ? &ranges[n - 1] : NULL;

		if (last && last->app == ranges[i].app && ranges[i].first <= last->end) {
			last->end = ranges[i].end > last->end ? ranges[i].end : last->end;
			continue;
		}
		if (!last || last->app != ranges[i].app)
			*vec_add(&t->firsts) = (uint32_t)n;
		ranges[n++] = ranges[i];
	}
	t->near.n = n;
	*vec_add(&t->firsts) = (uint32_t)n;
}

/* Visits the samples that are in ranges of both applications. With one == other, these are all
 * samples beside that application. */
static void visit_both(const struct trios *t, const struct fleet_run *base, size_t one,
		       size_t other, trio_visit visit, void *ctx)
{
	const struct corunner_range *a = t->near.data + t->firsts.data[one],
				    *a_end = t->near.data + t->firsts.data[one + 1],
				    *b = t->near.data + t->firsts.data[other],
				    *b_end = t->near.data + t->firsts.data[other + 1];
	uint32_t app = a->app, second = b->app;

	while (a < a_end && b < b_end) {
		uint32_t first = a->first > b->first ? a->first : b->first;
		uint32_t end = a->end < b->end ? a->end : b->end;

		if (first < end)
			visit(ctx, base, app, second, first, end - first);
		if (a->end == end)
			a++;
		else
			b++;
	}
}

void trios_find(struct trios *t, const struct fleet_run *base, trio_visit visit, void *ctx)
{
	unite(t);
	for (size_t one = 0; one + 1 < t->firsts.n; one++)
		for (size_t other = one; other + 1 < t->firsts.n; other++)
			visit_both(t, base, one, other, visit, ctx);
	t->near.n = 0;
}

void trios_release(struct trios *t)
{
	vec_release(&t->near);
	vec_release(&t->firsts);
}
