/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/shape.h"

struct shape *shapes_row(struct shapes *s, uint64_t hash)
{
	const uint32_t mask = 2 * SHAPES_MAX - 1;
	const uint8_t tag = (uint8_t)(hash >> 56);
	uint32_t i = (uint32_t)hash & mask;

	for (; s->at[i].row; i = (i + 1) & mask)
		if (s->at[i].tag == tag && s->rows[s->at[i].row - 1].hash == hash)
			return &s->rows[s->at[i].row - 1];
	if (s->n == SHAPES_MAX)
		return &s->rest;
	s->at[i].row = (uint8_t)++s->n;
	s->at[i].tag = tag;
	s->rows[s->n - 1].hash = hash;
	return &s->rows[s->n - 1];
}

static double excess(const struct shape *s)
{
	return (double)s->sum_ns - (double)s->calls * (double)s->min_ns;
}

double shapes_excess_ns(const struct shapes *s)
{
	double sum = excess(&s->rest);

	for (uint32_t i = 0; i < s->n; i++)
		sum += excess(&s->rows[i]);
	return sum;
}
