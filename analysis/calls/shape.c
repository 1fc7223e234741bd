/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/calls/shape.h"

struct shape *shapes_row_further(struct shapes *s, uint64_t hash)
{
	uint32_t i = hash % SHAPE_SLOTS;

	for (; s->at[i]; i = (i + 1) % SHAPE_SLOTS)
		if (s->rows[s->at[i]].hash == hash)
			return &s->rows[s->at[i]];
	if (s->n == SHAPES_MAX)
		return &s->rows[0];
	s->at[i] = (uint8_t)++s->n;
	s->rows[s->n].hash = hash;
	return &s->rows[s->n];
}

static double excess(const struct shape *s)
{
	return (double)s->sum_ns - (double)s->calls * (double)s->min_ns;
}

double shapes_excess_ns(const struct shapes *s)
{
	double sum = 0;

	for (uint32_t i = 0; i <= s->n; i++)
		sum += excess(&s->rows[i]);
	return sum;
}
