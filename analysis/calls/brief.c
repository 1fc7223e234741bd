/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/calls/brief.h"

#include "analysis/stat/hist.h"
#include "trace/meta/meta.h"
#include "trace/record.h"

#define COST_AT (BRIEF_FIXED + BRIEF_OCTAVES)

bool brief_read(struct brief *b, const struct record *r, uint32_t n_functions)
{
	if (r->kind != REC_BRIEF || r->n_values < BRIEF_FIXED || r->values[0] >= n_functions)
		return false;
	*b = (struct brief){
		.id = (uint32_t)r->values[0],
		.calls = r->values[1],
		.outer = r->values[2],
		.sum_ns = r->values[3],
		.min_ns = r->values[4],
		.inside = r->values[5],
		.cost_ns = r->n_values > COST_AT ? r->values[COST_AT] : 0,
		.own_ns = r->values[6],
		.own_min_ns = r->values[7],
		.top_ns = r->values[8],
	};
	return true;
}

/* Returns the middle of an octave of durations, which is 3/4 of its end. */
static uint64_t middle_of(uint32_t octave)
{
	return 3ull << (BRIEF_BITS - 2 + octave);
}

void brief_add(const struct brief *b, const struct record *r, struct hist *h)
{
	uint64_t sum_ns = h->sum + b->sum_ns;

	for (uint32_t i = BRIEF_FIXED; i < r->n_values && i < BRIEF_FIXED + BRIEF_OCTAVES; i++) {
		uint64_t ns = middle_of(i - BRIEF_FIXED);

		hist_add_many(h, ns > b->min_ns ? ns : b->min_ns, r->values[i]);
	}
	h->sum = sum_ns;
	if (b->outer && b->min_ns < h->min)
		h->min = b->min_ns;
}

double brief_squares(const struct record *r)
{
	double sum = 0;

	for (uint32_t i = BRIEF_FIXED; i < r->n_values && i < BRIEF_FIXED + BRIEF_OCTAVES; i++) {
		double ns = (double)middle_of(i - BRIEF_FIXED);

		sum += (double)r->values[i] * ns * ns;
	}
	return sum;
}

const char *brief_notice_of_window(const struct meta *meta)
{
	return meta_has_notice(meta, "keep-slower")
		       ? "calls that --keep-slower left out have no time: those of a thread count at "
			 "the thread's end"
		       : NULL;
}
