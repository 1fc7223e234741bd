/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/stat/tally.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "trace/varint.h"

uint32_t tally_bucket_low(uint32_t bucket)
{
	uint32_t shift = bucket < 2 * TALLY_PAGE ? 0 : bucket / TALLY_PAGE - 1;

	return (bucket - shift * TALLY_PAGE) << shift;
}

uint64_t tally_bucket_width(uint32_t bucket)
{
	return bucket < 2 * TALLY_PAGE ? 1 : 1ull << (bucket / TALLY_PAGE - 1);
}

/*
 * Makes room for the buckets low … high. It adds whole half pages, so that it rarely has to copy.
 */
static void make_room(struct tally *t, uint32_t low, uint32_t high)
{
	const uint32_t step = TALLY_PAGE / 2;
	uint32_t first = low / step * step, end = (high / step + 1) * step;
	uint64_t *counts;

	if (t->counts && first >= t->first && end <= t->first + t->room)
		return;
	if (t->counts) {
		first = first < t->first ? first : t->first;
		end = end > t->first + t->room ? end : t->first + t->room;
	}
	counts = xcalloc(end - first, sizeof(*counts));
	if (t->counts)
		memcpy(counts + (t->first - first), t->counts, t->room * sizeof(*counts));
	free(t->counts);
	t->counts = counts;
	t->first = first;
	t->room = end - first;
}

void tally_add(struct tally *t, const uint32_t *values, const uint16_t *buckets, size_t n)
{
	uint16_t low = UINT16_MAX, high = 0;
	uint64_t *counts, sum = 0;

	if (!n)
		return;
	for (size_t i = 0; i < n; i++) {
		low = buckets[i] < low ? buckets[i] : low;
		high = buckets[i] > high ? buckets[i] : high;
	}
	make_room(t, low, high);
	counts = t->counts;
	low = (uint16_t)t->first;
	for (size_t i = 0; i < n; i++) {
		sum += values[i];
		t->squares += (uint64_t)values[i] * values[i];
		counts[buckets[i] - low]++;
	}
	t->n += n;
	t->sum += sum;
}

static void merge_counts(struct tally *t, const struct tally *more)
{
	uint64_t *counts;

	if (!more->room)
		return;
	make_room(t, more->first, more->first + more->room - 1);
	counts = t->counts + (more->first - t->first);
	for (uint32_t i = 0; i < more->room; i++)
		counts[i] += more->counts[i];
}

void tally_count(struct tally *t, uint32_t bucket, uint64_t count)
{
	make_room(t, bucket, bucket);
	t->counts[bucket - t->first] += count;
	t->n += count;
}

void tally_merge(struct tally *t, const struct tally *more)
{
	merge_counts(t, more);
	t->n += more->n;
	t->sum += more->sum;
	t->squares += more->squares;
}

static bool has_all(const struct tally *t, const struct tally *part)
{
	for (uint32_t i = 0; i < part->room; i++) {
		uint32_t bucket = part->first + i;

		if (part->counts[i] && (bucket < t->first || bucket >= t->first + t->room ||
					t->counts[bucket - t->first] < part->counts[i]))
			return false;
	}
	return t->n >= part->n && t->sum >= part->sum && t->squares >= part->squares;
}

void tally_subtract(struct tally *t, const struct tally *part)
{
	if (!has_all(t, part)) {
		tally_release(t);
		return;
	}
	for (uint32_t i = 0; i < part->room; i++)
		if (part->counts[i])
			t->counts[part->first + i - t->first] -= part->counts[i];
	t->n -= part->n;
	t->sum -= part->sum;
	t->squares -= part->squares;
}

void tally_release(struct tally *t)
{
	free(t->counts);
	*t = (struct tally){ 0 };
}

double tally_mean(const struct tally *t)
{
	return t->n ? (double)((long double)t->sum / t->n) : NAN;
}

/*
 * Uses squares around a whole number near the mean, so that the difference of two large numbers is
 * exact.
 */
double tally_deviation(const struct tally *t)
{
	uint64_t near, rest;
	tally_u128 around;
	double variance;

	if (!t->n)
		return NAN;
	near = t->sum / t->n;
	rest = t->sum % t->n;
	around = t->squares - 2 * (tally_u128)near * t->sum + (tally_u128)near * near * t->n;
	variance = ((double)around - (double)rest * (double)rest / (double)t->n) / (double)t->n;
	return variance > 0 ? sqrt(variance) : 0;
}

double tally_inverse_deviation(const struct tally *t)
{
	double sum = 0, squares = 0, mean;

	if (!t->n)
		return NAN;
	for (uint32_t i = 0; i < t->room; i++) {
		uint64_t width = tally_bucket_width(t->first + i);
		double inverse = 1 / (tally_bucket_low(t->first + i) +
				      (width > 1 || !(t->first + i) ? (double)width / 2 : 0));

		sum += (double)t->counts[i] * inverse;
		squares += (double)t->counts[i] * inverse * inverse;
	}
	mean = sum / (double)t->n;
	return sqrt(fmax(0, squares / (double)t->n - mean * mean));
}

double tally_quantile(const struct tally *t, double q)
{
	double rank = q * (double)t->n;
	uint64_t seen = 0, width;

	for (uint32_t i = 0; i < t->room; i++) {
		if (!t->counts[i] || (double)(seen += t->counts[i]) < rank)
			continue;
		width = tally_bucket_width(t->first + i);
		if (width == 1)
			return tally_bucket_low(t->first + i);
		rank -= (double)(seen - t->counts[i]);
		return tally_bucket_low(t->first + i) + (double)width * rank / (double)t->counts[i];
	}
	return NAN;
}

void tally_pack(const struct tally *t, struct text *out)
{
	uint8_t bytes[2 * VARINT_MAX], *end;
	uint32_t next = 0, bucket;

	for (uint32_t i = 0; i < t->room; i++) {
		if (!t->counts[i])
			continue;
		bucket = t->first + i;
		end = varint_put(varint_put(bytes, bucket - next), t->counts[i]);
		text_addn(out, (char *)bytes, (size_t)(end - bytes));
		next = bucket + 1;
	}
}

/*
 * Reads a bucket and its count. Returns the end of the bytes read, or NULL if the bytes are
 * invalid.
 */
static const uint8_t *unpack_bucket(const uint8_t *p, const uint8_t *end, uint64_t *next,
				    uint64_t *count)
{
	uint64_t skip;

	p = varint_get(p, end, &skip);
	p = p ? varint_get(p, end, count) : NULL;
	if (!p || skip >= TALLY_BUCKETS || *next + skip >= TALLY_BUCKETS || !*count)
		return NULL;
	*next += skip + 1;
	return p;
}

int tally_unpack(struct tally *t, const void *bytes, size_t n)
{
	const uint8_t *p = bytes, *end = p + n;
	uint64_t next = 0, first = 0, count;

	while (p < end) {
		p = unpack_bucket(p, end, &next, &count);
		if (!p)
			return -EINVAL;
		first = first ? first : next;
	}
	if (!n)
		return 0;
	make_room(t, (uint32_t)first - 1, (uint32_t)next - 1);
	for (p = bytes, next = 0; p < end;) {
		p = unpack_bucket(p, end, &next, &count);
		t->counts[next - 1 - t->first] += count;
		t->n += count;
	}
	return 0;
}
