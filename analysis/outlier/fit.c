/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/outlier/fit.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/calls/brief.h"
#include "analysis/outlier/outlier.h"
#include "base/mem.h"

#define NORMAL_MAD \
	1.4826 /* standard deviation of a normal distribution / its median absolute deviation */

/* Halves the sample by a hash of the index, so that a periodic program cannot bias it. */
static void thin_out(struct outlier_block *b)
{
	size_t kept = 0;

	b->keep_mask = 2 * b->keep_mask + 1;
	for (size_t i = 0; i < b->sample.n; i++)
		if (!(hash_u64(b->sample.data[i].index) & b->keep_mask))
			b->sample.data[kept++] = b->sample.data[i];
	b->sample.n = kept;
}

void outlier_fit_add(struct outlier_block *b, uint64_t index, uint64_t ns)
{
	double x = (double)index, y = (double)ns, dx, dy;

	hist_add(&b->durations, ns);
	b->n++;
	dx = x - b->mean_x;
	dy = y - b->mean_y;
	b->mean_x += dx / b->n;
	b->mean_y += dy / b->n;
	b->xx += dx * (x - b->mean_x);
	b->xy += dx * (y - b->mean_y);
	b->yy += dy * (y - b->mean_y);
	if (hash_u64(index) & b->keep_mask)
		return;
	*vec_add(&b->sample) = (struct outlier_point){ index, ns };
	while (b->sample.n > OUTLIER_SAMPLE)
		thin_out(b);
}

static double median(double *values, size_t n)
{
	qsort(values, n, sizeof(*values), vec_by_double);
	return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

static int by_index(const void *a, const void *b)
{
	const struct outlier_point *x = a, *y = b;

	return (x->index > y->index) - (x->index < y->index);
}

/* Returns the median of the slopes between points that are half the sample apart: the estimator of
 * Theil and Sen with one pair for each point. */
static double median_slope(const struct outlier_block *b, double *room)
{
	size_t half = b->sample.n / 2, n = 0;

	for (size_t i = 0; i + half < b->sample.n; i++) {
		const struct outlier_point *p = &b->sample.data[i], *q = p + half;

		if (q->index > p->index)
			room[n++] = ((double)q->ns - (double)p->ns) / (double)(q->index - p->index);
	}
	return n ? median(room, n) : 0;
}

static double robust_line(struct outlier_block *b)
{
	double *room = xcalloc(b->sample.n + 1, sizeof(*room)), distance;

	b->line.slope = median_slope(b, room);
	for (size_t i = 0; i < b->sample.n; i++)
		room[i] = (double)b->sample.data[i].ns -
			  b->line.slope * (double)b->sample.data[i].index;
	b->line.intercept = b->sample.n ? median(room, b->sample.n) : 0;
	for (size_t i = 0; i < b->sample.n; i++)
		room[i] = fabs(room[i] - b->line.intercept);
	distance = b->sample.n ? median(room, b->sample.n) : 0;
	free(room);
	return OUTLIER_SCALES * NORMAL_MAD * distance;
}

void outlier_fit_brief(struct outlier_block *b, const struct brief *brief, const struct record *r)
{
	brief_add(brief, r, &b->durations);
	b->brief += brief->outer;
	b->brief_squares += brief_squares(r);
}

/* Fits a horizontal line to all executions, with records or brief. Returns the bound. */
static double flat_line(struct outlier_block *b, enum outlier_rule rule)
{
	const struct hist *h = &b->durations;
	double n = (double)h->count, mean = (double)h->sum / n;
	double squares = b->yy + b->n * b->mean_y * b->mean_y + b->brief_squares;
	double variance = squares / n - mean * mean;

	b->mean_y = mean;
	b->stddev_ns = variance > 0 ? sqrt(variance) : 0;
	b->line.slope = 0;
	b->line.intercept = rule == OUTLIER_PAPER ? mean : (double)hist_quantile(h, 0.5);
	return rule == OUTLIER_PAPER
		       ? b->stddev_ns
		       : OUTLIER_SCALES * NORMAL_MAD *
				 (double)(hist_quantile(h, 0.75) - hist_quantile(h, 0.25)) / 2;
}

void outlier_fit(struct outlier_block *b, enum outlier_rule rule, double jitter_ns)
{
	vec_sort(&b->sample, by_index);
	b->stddev_ns = b->n > 0 ? sqrt(b->yy / b->n) : 0;
	b->line.slope = b->xx > 0 ? b->xy / b->xx : 0;
	b->line.intercept = b->mean_y - b->line.slope * b->mean_x;
	if (b->brief)
		b->line.bound_ns = flat_line(b, rule);
	else
		b->line.bound_ns = rule == OUTLIER_PAPER ? b->stddev_ns : robust_line(b);
	if (b->line.bound_ns < jitter_ns)
		b->line.bound_ns = jitter_ns;
}
