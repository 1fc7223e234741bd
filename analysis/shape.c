/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/shape.h"

static struct shape *find(struct shapes *s, uint64_t hash)
{
	if (s->recent < s->n && s->rows[s->recent].hash == hash)
		return &s->rows[s->recent];
	for (uint32_t i = 0; i < s->n; i++)
		if (s->rows[i].hash == hash) {
			s->recent = i;
			return &s->rows[i];
		}
	if (s->n == SHAPES_MAX)
		return &s->rest;
	s->recent = s->n;
	s->rows[s->n].hash = hash;
	return &s->rows[s->n++];
}

void shapes_add(struct shapes *s, uint64_t hash, uint64_t duration_ns)
{
	struct shape *shape = find(s, hash);

	if (!shape->calls++ || duration_ns < shape->min_ns)
		shape->min_ns = duration_ns;
	shape->sum_ns += duration_ns;
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
