/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A summary of many values: their number, sum, sum of squares, and a log-linear histogram (64
 * buckets an octave). All are integers, the squares in 128 bits: merging is exact, so any order and
 * any tree of merges give the same bytes. Finer and smaller than hist.h's, because a fleet has
 * hundreds of thousands of them and asks for medians that differ by a percent.
 */
#ifndef ISPOT_ANALYSIS_STAT_TALLY_H
#define ISPOT_ANALYSIS_STAT_TALLY_H

#include <stddef.h>
#include <stdint.h>

struct text;

#define TALLY_BITS 6
#define TALLY_PAGE (1u << TALLY_BITS)
/* One more than the last bucket, that of UINT32_MAX. */
#define TALLY_BUCKETS ((32 - TALLY_BITS) * TALLY_PAGE + TALLY_PAGE)

typedef unsigned __int128 tally_u128;

struct tally {
	uint64_t n, sum;
	tally_u128 squares;
	uint32_t first, room; /* counts[i] is of bucket first + i */
	uint64_t *counts;
};

static inline uint16_t tally_bucket(uint32_t value)
{
	uint32_t shift = value < 2 * TALLY_PAGE ? 0 : 31 - TALLY_BITS - __builtin_clz(value);

	return (uint16_t)(shift * TALLY_PAGE + (value >> shift));
}

uint32_t tally_bucket_low(uint32_t bucket);
uint64_t tally_bucket_width(uint32_t bucket);

/* buckets: tally_bucket() of each value. */
void tally_add(struct tally *t, const uint32_t *values, const uint16_t *buckets, size_t n);
/* To the histogram and n alone. */
void tally_count(struct tally *t, uint32_t bucket, uint64_t count);
void tally_merge(struct tally *t, const struct tally *more);
/* part: is among t's values, else t is empty afterwards. */
void tally_subtract(struct tally *t, const struct tally *part);
void tally_release(struct tally *t);

double tally_mean(const struct tally *t);      /* NAN when empty */
double tally_deviation(const struct tally *t); /* of the values from their mean: the square root of
						  their variance; NAN when empty */
/* The same of the values' inverses, by their buckets' middles; a value of 0 counts as half. */
double tally_inverse_deviation(const struct tally *t);
/* At q in 0..1, linear within its bucket; NAN when empty. */
double tally_quantile(const struct tally *t, double q);

/* The histogram as bytes: for each bucket that is not empty, varints of its distance to the bucket
 * after the one before it, and its count. Equal histograms have equal bytes. */
void tally_pack(const struct tally *t, struct text *out);
/* Sets the histogram, and n from it. -EINVAL: not such bytes. */
int tally_unpack(struct tally *t, const void *bytes, size_t n);

#endif
