/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>

#include "analysis/stat/hist.h"
#include "base/mem.h"

uint64_t hist_bucket_low(uint32_t bucket)
{
	uint32_t shift;

	if (bucket < 2 * HIST_PAGE)
		return bucket;
	shift = bucket / HIST_PAGE - 1;
	return (uint64_t)(bucket - shift * HIST_PAGE) << shift;
}

uint64_t hist_bucket_high(uint32_t bucket)
{
	uint32_t shift = bucket < 2 * HIST_PAGE ? 0 : bucket / HIST_PAGE - 1;

	return hist_bucket_low(bucket) + ((1ull << shift) - 1);
}

uint64_t *hist_new_page(void)
{
	return xcalloc(HIST_PAGE, sizeof(uint64_t));
}

void hist_add_many(struct hist *h, uint64_t value, uint64_t n)
{
	if (!n)
		return;
	hist_add(h, value);
	h->pages[hist_bucket(value) / HIST_PAGE][hist_bucket(value) % HIST_PAGE] += n - 1;
	h->count += n - 1;
	h->sum += (n - 1) * value;
}

void hist_merge(struct hist *h, const struct hist *more)
{
	if (!more->count)
		return;
	for (uint32_t p = 0; p < HIST_PAGES; p++) {
		if (more->pages[p] && !h->pages[p])
			h->pages[p] = hist_new_page();
		for (uint32_t i = 0; more->pages[p] && i < HIST_PAGE; i++)
			h->pages[p][i] += more->pages[p][i];
	}
	if (more->min < h->min || !h->count)
		h->min = more->min;
	if (more->max > h->max)
		h->max = more->max;
	h->count += more->count;
	h->sum += more->sum;
}

static uint64_t middle(const struct hist *h, uint32_t bucket)
{
	uint64_t low = hist_bucket_low(bucket);
	uint64_t value = low + (hist_bucket_high(bucket) - low) / 2;

	if (value < h->min)
		return h->min;
	return value > h->max ? h->max : value;
}

uint64_t hist_quantile(const struct hist *h, double q)
{
	uint64_t rank = (uint64_t)ceil(q * (double)h->count);
	uint64_t seen = 0;

	if (rank <= 1)
		return h->min;
	if (rank >= h->count)
		return h->max;
	for (uint32_t p = 0; p < HIST_PAGES; p++)
		for (uint32_t i = 0; h->pages[p] && i < HIST_PAGE; i++) {
			seen += h->pages[p][i];
			if (seen >= rank)
				return middle(h, p * HIST_PAGE + i);
		}
	return h->max;
}

uint64_t hist_between(const struct hist *h, uint64_t low, uint64_t high)
{
	uint64_t n = 0;

	for (uint32_t b = hist_bucket(low); b <= hist_bucket(high); b++)
		if (h->pages[b / HIST_PAGE])
			n += h->pages[b / HIST_PAGE][b % HIST_PAGE];
	return n;
}

void hist_release(struct hist *h)
{
	for (uint32_t p = 0; p < HIST_PAGES; p++)
		free(h->pages[p]);
	*h = (struct hist){ 0 };
}
