/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/evidence/counter_table.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

/* Sums over the calls of one bucket of durations, then for each counter: calls that counted it, and
 * the sum of its values. */
struct counter_row {
	uint64_t calls, ns, running_ns;
	uint64_t still; /* the calls for which all counters that are written on change counted 0 */
	uint64_t of[];	/* [2 * id]: calls, [2 * id + 1]: sum */
};

void counter_table_release(struct counter_table *t)
{
	for (unsigned p = 0; p < HIST_PAGES; p++)
		free(t->pages[p]);
	free(t->lines);
}

static size_t row_size(const struct counters *c)
{
	return sizeof(struct counter_row) + 2 * c->n * sizeof(uint64_t);
}

static struct counter_row *row_at(const struct counters *c, const struct counter_table *t,
				  uint32_t bucket)
{
	char *page = (char *)t->pages[bucket / HIST_PAGE];

	return page ? (struct counter_row *)(page + bucket % HIST_PAGE * row_size(c)) : NULL;
}

static void line_add(struct counter_line *l, double x, double y)
{
	l->n++;
	l->x += x;
	l->y += y;
	l->xx += x * x;
	l->xy += x * y;
	l->yy += y * y;
}

static struct counter_row *add_call(const struct counters *c, struct counter_table *t, uint64_t ns,
				    uint64_t running_ns)
{
	uint32_t bucket = hist_bucket(ns);
	struct counter_row *row;

	if (!t->pages[bucket / HIST_PAGE])
		t->pages[bucket / HIST_PAGE] = xcalloc(HIST_PAGE, row_size(c));
	if (!t->lines)
		t->lines = xcalloc(c->n, sizeof(*t->lines));
	row = row_at(c, t, bucket);
	row->calls++;
	row->ns += ns;
	row->running_ns += running_ns;
	return row;
}

void counter_table_add_still(const struct counters *c, struct counter_table *t, uint64_t ns,
			     uint64_t running_ns)
{
	add_call(c, t, ns, running_ns)->still++;
	line_add(&t->still, 0, (double)running_ns);
}

void counter_table_add(const struct counters *c, struct counter_table *t, uint64_t ns,
		       uint64_t running_ns, const struct counter_delta *d)
{
	struct counter_row *row = add_call(c, t, ns, running_ns);

	for (unsigned i = 0; i < c->n; i++) {
		if (!(d->mask & 1u << i))
			continue;
		row->of[2 * i]++;
		row->of[2 * i + 1] += d->of[i];
		line_add(&t->lines[i], (double)d->of[i], (double)running_ns);
	}
}

/* ---- means ---- */

struct sums {
	double all, fast, slow;
};

static void add_calls(struct sums *s, struct counter_mean *m, uint64_t calls, uint64_t sum,
		      bool fast, bool slow)
{
	m->calls += calls;
	s->all += (double)sum;
	if (fast) {
		m->fast_calls += calls;
		s->fast += (double)sum;
	}
	if (slow) {
		m->slow_calls += calls;
		s->slow += (double)sum;
	}
}

static void divide(const struct sums *s, struct counter_mean *m)
{
	m->mean = m->calls ? s->all / (double)m->calls : NAN;
	m->mean_fast = m->fast_calls ? s->fast / (double)m->fast_calls : NAN;
	m->mean_slow = m->slow_calls ? s->slow / (double)m->slow_calls : NAN;
}

static struct counter_line line_sum(const struct counter_line *a, const struct counter_line *b)
{
	return (struct counter_line){ a->n + b->n,   a->x + b->x,   a->y + b->y,
				      a->xx + b->xx, a->xy + b->xy, a->yy + b->yy };
}

static void fit_line(const struct counter_line *l, struct counter_summary *s, unsigned i)
{
	double xx = l->xx - l->x * l->x / l->n, yy = l->yy - l->y * l->y / l->n;
	double xy = l->xy - l->x * l->y / l->n;

	s->r2[i] = s->slope_ns[i] = s->slope_error_ns[i] = NAN;
	/* what rounding leaves of equal values is no variance */
	if (l->n < 3 || !(xx > 1e-9 * l->xx) || !(yy > 1e-9 * l->yy))
		return;
	s->r2[i] = xy * xy / (xx * yy);
	s->slope_ns[i] = xy / xx;
	s->slope_error_ns[i] = sqrt((1 - s->r2[i]) * yy / xx / (l->n - 2));
}

static uint64_t counted_calls(const struct counters *c, const struct counter_row *row, unsigned i)
{
	return row->of[2 * i] + (c->on_change & 1u << i ? row->still : 0);
}

/* Sets the means of the shortest calls. Rows come from short to long; the first one with a value of
 * a counter counts. */
static void add_shortest(const struct counters *c, const struct counter_row *row,
			 struct counter_summary *s)
{
	if (isnan(s->running_least_ns))
		s->running_least_ns = (double)row->running_ns / (double)row->calls;
	for (unsigned i = 0; i < c->n; i++)
		if (isnan(s->least[i]) && counted_calls(c, row, i))
			s->least[i] = (double)row->of[2 * i + 1] / (double)counted_calls(c, row, i);
}

struct counter_summary *counter_table_summary(const struct counters *c,
					      const struct counter_table *t, uint64_t fast_max_ns,
					      uint64_t slow_min_ns)
{
	/* a bucket that holds the limit counts as a duration of the limit */
	uint32_t fast_last = hist_bucket(fast_max_ns), slow_first = hist_bucket(slow_min_ns);
	struct counter_summary *s;
	struct sums ns = { 0 }, running_ns = { 0 }, value[COUNTERS_MAX] = { 0 };

	if (!t->lines)
		return NULL;
	if (slow_first <= fast_last)
		slow_first = fast_last + 1;
	s = xcalloc(1, sizeof(*s));
	s->running_least_ns = NAN;
	for (unsigned i = 0; i < COUNTERS_MAX; i++)
		s->least[i] = NAN;
	for (uint32_t b = 0; b < HIST_PAGES * HIST_PAGE; b++) {
		const struct counter_row *row = row_at(c, t, b);
		bool fast = b <= fast_last, slow = b >= slow_first;

		if (!row || !row->calls)
			continue;
		add_calls(&ns, &s->ns, row->calls, row->ns, fast, slow);
		add_calls(&running_ns, &s->running_ns, row->calls, row->running_ns, fast, slow);
		for (unsigned i = 0; i < c->n; i++)
			add_calls(&value[i], &s->value[i], counted_calls(c, row, i),
				  row->of[2 * i + 1], fast, slow);
		add_shortest(c, row, s);
	}
	divide(&ns, &s->ns);
	divide(&running_ns, &s->running_ns);
	for (unsigned i = 0; i < COUNTERS_MAX; i++) {
		struct counter_line line = { 0 };

		divide(&value[i], &s->value[i]);
		if (i < c->n && c->on_change & 1u << i)
			line = line_sum(&t->lines[i], &t->still);
		else if (i < c->n)
			line = t->lines[i];
		fit_line(&line, s, i);
	}
	return s;
}
