/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/score/solo.h"

#include "analysis/threads/call.h"
#include "trace/meta/meta.h"

#define OVERLAP_MOST 0.25 /* share of a call that may be in windows if it is to be scored */

void solo_init(struct solo_sums *s)
{
	*s = (struct solo_sums){ .min_ns = UINT64_MAX, .own_min_ns = UINT64_MAX };
}

/* Returns the first window that ends after this moment, or the number of windows. */
static size_t first_after(const struct meta *meta, uint64_t ns)
{
	return vec_search(i, 0, meta->solos.n, meta->solos.data[i].end_ns <= ns);
}

static uint64_t overlap_ns(const struct meta *meta, uint64_t begin_ns, uint64_t end_ns)
{
	uint64_t sum = 0;

	for (size_t i = first_after(meta, begin_ns); i < meta->solos.n; i++) {
		const struct meta_solo *w = &meta->solos.data[i];
		uint64_t from = w->begin_ns > begin_ns ? w->begin_ns : begin_ns;
		uint64_t to = w->end_ns < end_ns ? w->end_ns : end_ns;

		if (w->begin_ns >= end_ns)
			break;
		sum += to > from ? to - from : 0;
	}
	return sum;
}

static void add(struct solo_sums *s, const struct call *c)
{
	double own = (double)c->own_ns;

	if (!c->recursive) {
		s->calls++;
		if (c->duration_ns < s->min_ns)
			s->min_ns = c->duration_ns;
	}
	if (c->own_unknown)
		return;
	s->own_calls++;
	s->own_ns += own;
	s->own_squares += own * own;
	if (c->own_ns < s->own_min_ns)
		s->own_min_ns = c->own_ns;
}

static uint64_t inside_ns_of(const struct meta *meta, const struct call *c)
{
	return overlap_ns(meta, c->entry_ns, c->entry_ns + c->raw_ns);
}

bool solo_leaves_out(const struct meta *meta, const struct call *c)
{
	return meta->solos.n && (double)inside_ns_of(meta, c) > OVERLAP_MOST * (double)c->raw_ns;
}

bool solo_is_outside(struct solo_sums *s, const struct meta *meta, const struct call *c)
{
	if (!solo_leaves_out(meta, c))
		return true;
	s->left_out++;
	if (inside_ns_of(meta, c) == c->raw_ns && !offcpu_ns(&c->off))
		add(s, c);
	return false;
}
