/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A log-linear histogram of durations, as HdrHistogram is: 32 buckets an octave, so a percentile is
 * off by at most 1/64 (1.6 %) of its value, while count, sum, minimum and maximum are exact. Values
 * below 64 have a bucket each. A histogram takes 256 bytes for each octave in use.
 */
#ifndef ISPOT_ANALYSIS_STAT_HIST_H
#define ISPOT_ANALYSIS_STAT_HIST_H

#include <stdint.h>

#include "base/likely.h"

#define HIST_PAGE_BITS 5
#define HIST_PAGE      (1u << HIST_PAGE_BITS)
#define HIST_PAGES     60 /* covers 0 … UINT64_MAX */

struct hist {
	uint64_t count, sum, min, max; /* min and max are 0 while count is 0 */
	uint64_t *pages[HIST_PAGES];
};

static inline uint32_t hist_bucket(uint64_t value)
{
	uint32_t shift = value < 2 * HIST_PAGE ? 0 : 63 - HIST_PAGE_BITS - __builtin_clzll(value);

	return shift * HIST_PAGE + (uint32_t)(value >> shift);
}

uint64_t hist_bucket_low(uint32_t bucket);  /* smallest value in the bucket */
uint64_t hist_bucket_high(uint32_t bucket); /* largest value in the bucket */

uint64_t *hist_new_page(void);

/* Inline, because it runs for every call. */
static inline void hist_add(struct hist *h, uint64_t value)
{
	uint32_t bucket = hist_bucket(value);
	uint64_t **page = &h->pages[bucket / HIST_PAGE];

	if (unlikely(!*page))
		*page = hist_new_page();
	(*page)[bucket % HIST_PAGE]++;
	if (value < h->min || !h->count)
		h->min = value;
	if (value > h->max)
		h->max = value;
	h->count++;
	h->sum += value;
}

/* Adds n values whose sum is unknown, each as `value`. */
void hist_add_many(struct hist *h, uint64_t value, uint64_t n);
void hist_merge(struct hist *h, const struct hist *more);
/*
 * Returns the value at quantile q in 0..1 (nearest rank) as the middle of its bucket, or 0 for an
 * empty histogram.
 */
uint64_t hist_quantile(const struct hist *h, double q);
/* Returns the number of values in [low, high]; both ends are rounded to bucket edges. */
uint64_t hist_between(const struct hist *h, uint64_t low, uint64_t high);
void hist_release(struct hist *h);

#endif
