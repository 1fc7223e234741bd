/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>

#include "analysis/calls/paircost.h"
#include "base/mem.h"
#include "trace/meta/meta.h"

/* Returns the distance of two thread counts by their ratio, so that 1 and 2 differ as 32 and 64
 * do. */
static double distance(uint32_t row, uint32_t wanted)
{
	return fabs(log((double)(row ? row : 1) / (wanted ? wanted : 1)));
}

static bool fits(const struct meta_calibration *c, const struct meta_function *f)
{
	return c->calls && meta_calibration_fits(c, f->class, f->exit, f->only_jumps);
}

static const struct meta_calibration *nearest(const struct meta *meta,
					      const struct meta_function *f, uint32_t threads)
{
	const struct meta_calibration *best = NULL;

	vec_for_each (&meta->calibrations, const struct meta_calibration, c)
		if (fits(c, f) &&
		    (!best || distance(c->threads, threads) < distance(best->threads, threads)))
			best = c;
	return best;
}

/*
 * Returns mean - min of an empty call. The measured mean includes preemptions of the calibration,
 * which are frequent and not part of the probe's cost. So it is bounded by the mean of a piecewise
 * linear distribution through minimum, median and 99th percentile.
 */
static double jitter_of(const struct meta_calibration *c)
{
	double min = (double)c->inner_min_ns, p50 = (double)c->inner_p50_ns;
	double p99 = (double)c->inner_p99_ns;
	double bounded = 0.5 * (min + p50) / 2 + 0.49 * (p50 + p99) / 2 + 0.01 * p99;

	return (c->inner_mean_ns < bounded ? c->inner_mean_ns : bounded) - min;
}

/* Clamps a value, because a damaged recording may have any. */
static uint64_t whole_ns(double ns)
{
	if (!(ns > 0))
		return 0;
	return ns < (double)INT64_MAX ? (uint64_t)(ns + 0.5) : INT64_MAX;
}

/* Sets the cost of a function for a program that runs this number of threads. */
static void paircost_of(const struct meta *meta, const struct meta_function *f, uint32_t threads,
			struct paircost *cost)
{
	const struct meta_calibration *best = nearest(meta, f, threads);
	double full = 0, inner = 0;
	unsigned n = 0;

	*cost = (struct paircost){ 0 };
	if (!best)
		return;
	cost->known = true;
	cost->inner_min_ns = best->inner_min_ns;
	vec_for_each (&meta->calibrations, const struct meta_calibration, c) {
		double jitter = jitter_of(c);

		if (!fits(c, f) || c->threads != best->threads)
			continue;
		n++;
		full += isnan(c->full_p50_ns) ? (double)c->inner_p50_ns : c->full_p50_ns;
		inner += (double)c->inner_p50_ns;
		if (jitter > cost->jitter_ns)
			cost->jitter_ns = jitter;
		if (c->inner_min_ns < cost->inner_min_ns)
			cost->inner_min_ns = c->inner_min_ns;
		if (c->inner_p99_ns > cost->inner_p99_ns)
			cost->inner_p99_ns = c->inner_p99_ns;
	}
	cost->full_ns = whole_ns(full / n);
	cost->inner_ns = whole_ns(inner / n);
	if (cost->full_ns < cost->inner_ns)
		cost->full_ns = cost->inner_ns;
	cost->outer_ns = cost->full_ns - cost->inner_ns;
}

static void add_table(struct paircosts *p, const struct meta *meta, uint32_t threads)
{
	struct paircost_table *table = &p->tables[p->n];

	for (unsigned i = 0; i < p->n; i++)
		if (p->tables[i].threads == threads)
			return;
	if (p->n == PAIRCOST_TABLES_MAX)
		return;
	p->n++;
	table->threads = threads;
	table->costs = xcalloc(meta->functions.n + 1, sizeof(*table->costs));
	for (size_t id = 0; id < meta->functions.n; id++)
		paircost_of(meta, &meta->functions.data[id], threads, &table->costs[id]);
}

void paircosts_init(struct paircosts *p, const struct meta *meta)
{
	*p = (struct paircosts){ 0 };
	vec_for_each (&meta->calibrations, const struct meta_calibration, c)
		add_table(p, meta, c->threads);
	if (!p->n)
		add_table(p, meta, 1);
}

unsigned paircosts_nearest(const struct paircosts *p, uint32_t threads)
{
	unsigned best = 0;

	for (unsigned i = 1; i < p->n; i++)
		if (distance(p->tables[i].threads, threads) <
		    distance(p->tables[best].threads, threads))
			best = i;
	return best;
}

void paircosts_release(struct paircosts *p)
{
	for (unsigned i = 0; i < p->n; i++)
		free(p->tables[i].costs);
	*p = (struct paircosts){ 0 };
}
