/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/stat/bootstrap.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/stat/hist.h"
#include "base/vec.h"

#define ROUNDS	    400
#define POISSON_FEW 30 /* means from which the normal distribution is a good approximation */

struct bucket {
	double count, value;
};

struct buckets {
	VEC(struct bucket)
};

static double uniform(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return ((double)(*state >> 11) + 0.5) / (double)(1ull << 53);
}

static double poisson(uint64_t *state, double mean)
{
	double n = -1;

	if (mean >= POISSON_FEW) {
		double angle = 2 * acos(-1) * uniform(state);

		n = mean + sqrt(mean) * sqrt(-2 * log(uniform(state))) * cos(angle);
		return n > 0 ? floor(n + 0.5) : 0;
	}
	for (double product = 1, limit = exp(-mean); product > limit; n++)
		product *= uniform(state);
	return n;
}

static void find_buckets(const struct hist *h, struct buckets *all)
{
	for (uint32_t b = 0; b < HIST_PAGES * HIST_PAGE; b++) {
		const uint64_t *page = h->pages[b / HIST_PAGE];
		double value;

		if (!page || !page[b % HIST_PAGE])
			continue;
		value = ((double)hist_bucket_low(b) + (double)hist_bucket_high(b)) / 2;
		*vec_add(all) = (struct bucket){ (double)page[b % HIST_PAGE], value };
	}
}

static double mean_again(const struct buckets *all, uint64_t *state)
{
	double n = 0, sum = 0;

	vec_for_each (all, const struct bucket, b) {
		double drawn = poisson(state, b->count);

		n += drawn;
		sum += drawn * b->value;
	}
	return n > 0 ? sum / n : NAN;
}

struct bootstrap bootstrap_mean(const struct hist *h, double all)
{
	struct bootstrap r = { 0 };
	struct buckets buckets = { 0 };
	double means[ROUNDS], mean = 0, n = 0, part;
	uint64_t state = 0x9e3779b97f4a7c15u;
	unsigned k = 0;

	if (h->count < 2 || all <= (double)h->count)
		return r;
	find_buckets(h, &buckets);
	vec_for_each (&buckets, const struct bucket, b) {
		n += b->count;
		mean += b->count * b->value;
	}
	mean /= n;
	for (unsigned i = 0; i < ROUNDS; i++) {
		means[k] = mean_again(&buckets, &state);
		k += !isnan(means[k]);
	}
	vec_release(&buckets);
	qsort(means, k, sizeof(*means), vec_by_double);
	/* The part of the values that was seen is certain, so only the rest adds doubt. */
	part = sqrt(1 - (double)h->count / all);
	if (k) {
		r.low = fmax(0, mean - means[k / 40]) * part;
		r.high = fmax(0, means[k - 1 - k / 40] - mean) * part;
	}
	return r;
}
