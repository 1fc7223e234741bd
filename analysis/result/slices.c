/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>

#include "analysis/result/slices.h"
#include "base/mem.h"

#define WIDTH_FIRST_NS 1000000
#define BATCHES_MIN    8
#define ACTIVE_MIN     4 /* batches with calls in them; fewer say nothing about their spread */

static void add(struct slice *to, const struct slice *from)
{
	to->calls += from->calls;
	to->quiet += from->quiet;
	for (unsigned i = 0; i < SLICE_SUMS; i++)
		to->sum[i] += from->sum[i];
}

/* Merges neighboring slices, so that the row has room for as much time again. */
static void halve(struct slice *at, unsigned n)
{
	for (unsigned i = 0; i < (n + 1) / 2; i++) {
		struct slice sum = at[2 * i];

		if (2 * i + 1 < n)
			add(&sum, &at[2 * i + 1]);
		at[i] = sum;
	}
	for (unsigned i = (n + 1) / 2; i < n; i++)
		at[i] = (struct slice){ 0 };
}

static unsigned index_of(struct slices *s, uint64_t time_ns)
{
	uint64_t since;

	if (!s->start_ns) {
		s->start_ns = time_ns;
		s->width_ns = WIDTH_FIRST_NS;
	}
	since = time_ns > s->start_ns ? time_ns - s->start_ns : 0;
	while (since / s->width_ns >= SLICES_MAX) {
		vec_for_each (&s->rows, struct slice_row *, row)
			if (*row)
				halve((*row)->at, SLICES_MAX);
		s->width_ns *= 2;
		s->n = (s->n + 1) / 2;
	}
	since /= s->width_ns;
	if (s->n <= since)
		s->n = (unsigned)since + 1;
	return (unsigned)since;
}

static void on_call(void *self, const struct thread *t, const struct call *c)
{
	struct slices *s = self;
	struct slice *slice;
	double ns = (double)c->duration_ns, seen = ns - (double)c->off.preempted_ns;
	unsigned i;

	(void)t;
	if (c->end != CALL_TIMED || c->recursive)
		return;
	while (s->rows.n <= c->id)
		*vec_add(&s->rows) = NULL;
	i = index_of(s, c->exit_ns);
	if (!s->rows.data[c->id])
		s->rows.data[c->id] = xcalloc(1, sizeof(struct slice_row));
	slice = &s->rows.data[c->id]->at[i];
	slice->calls++;
	slice->sum[SLICE_NS] += ns;
	slice->sum[SLICE_SEEN_NS] += seen > 0 ? seen : 0;
	slice->sum[SLICE_SEEN_LOG] += log(seen > 1 ? seen : 1);
	if ((double)(c->off.preempted_ns - c->off.woken_ns) <= SLICE_QUIET * ns) {
		slice->quiet++;
		slice->sum[SLICE_QUIET_NS] += seen;
		slice->sum[SLICE_QUIET_LOG] += log(seen > 1 ? seen : 1);
	}
	slice->sum[SLICE_BLOCKED_NS] += (double)(c->off.blocked_ns + c->off.idle_ns);
}

struct call_visitor slices_visitor(struct slices *s)
{
	return (struct call_visitor){ .self = s, .call = on_call };
}

static uint64_t calls_of(const struct slice *s, enum slice_sum what)
{
	return what < SLICE_QUIET_NS ? s->calls : s->quiet;
}

/*
 * Returns the variance of sum / calls over n batches, each batch being one observation (ratio
 * estimator).
 */
static double batch_variance(const struct slice *at, unsigned n, const struct slice_mean *m,
			     enum slice_sum what, unsigned *active)
{
	double squares = 0;

	*active = 0;
	for (unsigned i = 0; i < n; i++) {
		double rest = at[i].sum[what] - m->mean * (double)calls_of(&at[i], what);

		*active += calls_of(&at[i], what) > 0;
		squares += rest * rest;
	}
	return squares * *active / (*active - 1) / ((double)m->n * (double)m->n);
}

/*
 * Neighboring slices resemble each other if the machine is slow or fast for a while: wider batches
 * show more variance than narrow ones then. The largest variance of all widths is used.
 */
struct slice_mean slices_mean(const struct slices *s, uint32_t id, enum slice_sum what)
{
	struct slice_mean m = { .mean = NAN, .variance = NAN, .df = NAN };
	struct slice_row row;
	unsigned n = s->n;
	double sum = 0;

	if (id >= s->rows.n || !s->rows.data[id])
		return m;
	row = *s->rows.data[id];
	for (unsigned i = 0; i < n; i++) {
		m.n += calls_of(&row.at[i], what);
		sum += row.at[i].sum[what];
	}
	m.mean = sum / (double)m.n;
	for (; n >= BATCHES_MIN; n = (n + 1) / 2) {
		unsigned active;
		double variance = batch_variance(row.at, n, &m, what, &active);

		if (active >= ACTIVE_MIN && !(variance <= m.variance)) {
			m.variance = variance;
			m.df = active - 1;
		}
		halve(row.at, n);
	}
	return m;
}

void slices_release(struct slices *s)
{
	vec_for_each (&s->rows, struct slice_row *, row)
		free(*row);
	vec_release(&s->rows);
	*s = (struct slices){ 0 };
}
