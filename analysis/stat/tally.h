/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A summary of many values: their number, sum, sum of squares, and a log-linear histogram with 64
 * buckets an octave. All of them are integers, the squares in 128 bits, so merging is exact: any
 * order of merges gives the same bytes. The histogram is finer and smaller than that of hist.h,
 * because a fleet has hundreds of thousands of them and compares medians that differ by a percent.
 */
#ifndef ISPOT_ANALYSIS_STAT_TALLY_H
#define ISPOT_ANALYSIS_STAT_TALLY_H

#include <stddef.h>
#include <stdint.h>

struct text;

#define TALLY_BITS 6
#define TALLY_PAGE (1u << TALLY_BITS)
/* The number of buckets; the last bucket holds UINT32_MAX. */
#define TALLY_BUCKETS ((32 - TALLY_BITS) * TALLY_PAGE + TALLY_PAGE)

typedef unsigned __int128 tally_u128;

struct tally {
	uint64_t n, sum;
	tally_u128 squares;
	uint32_t first, room; /* counts[i] is the count of bucket first + i */
	uint64_t *counts;
};

static inline uint16_t tally_bucket(uint32_t value)
{
	uint32_t shift = value < 2 * TALLY_PAGE ? 0 : 31 - TALLY_BITS - __builtin_clz(value);

	return (uint16_t)(shift * TALLY_PAGE + (value >> shift));
}

uint32_t tally_bucket_low(uint32_t bucket);
uint64_t tally_bucket_width(uint32_t bucket);

/* buckets holds tally_bucket() of each value. */
void tally_add(struct tally *t, const uint32_t *values, const uint16_t *buckets, size_t n);
/* Adds count values to n and to the histogram, but not to the sums. */
void tally_count(struct tally *t, uint32_t bucket, uint64_t count);
void tally_merge(struct tally *t, const struct tally *more);
/* Subtracts part, whose values are among those of t. If they are not, t is empty afterwards. */
void tally_subtract(struct tally *t, const struct tally *part);
void tally_release(struct tally *t);

double tally_mean(const struct tally *t);      /* NAN if empty */
double tally_deviation(const struct tally *t); /* standard deviation; NAN if empty */
/*
 * Returns the standard deviation of the values' inverses, computed from the middles of the buckets.
 * A value of 0 counts as 0.5. Returns NAN if empty.
 */
double tally_inverse_deviation(const struct tally *t);
/* Returns the value at quantile q in 0..1, interpolated linearly in its bucket, or NAN if empty. */
double tally_quantile(const struct tally *t, double q);

/*
 * Appends the histogram as bytes: for each bucket that is not empty, two varints, the number of
 * empty buckets before it and its count. Equal histograms have equal bytes.
 */
void tally_pack(const struct tally *t, struct text *out);
/* Adds the packed counts to the histogram and to n. -EINVAL: the bytes are invalid. */
int tally_unpack(struct tally *t, const void *bytes, size_t n);

#endif
