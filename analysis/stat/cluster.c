/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/stat/cluster.h"

#include <string.h>

#include "analysis/stat/correlation.h"
#include "base/mem.h"

/*
 * Work space. Row i of sums is the sum of the unit vectors of an active cluster. Rows 0 … n_active
 * - 1 are in use; the last row takes the place of a row that leaves.
 */
struct space {
	size_t width;
	double *sums;
	uint32_t *members; /* [row]: number of events in the cluster */
	uint32_t *name;	   /* [row]: one of its events */
	/* [event]: leads towards the event that names its cluster, which is its own parent */
	uint32_t *parent;
	uint32_t n_active;
	uint32_t *chain, n_chain; /* rows by number */
};

static double *row(const struct space *s, uint32_t i)
{
	return s->sums + i * s->width;
}

/*
 * Uses four sums, so that the additions need not wait for each other. The result is the same, to
 * the last bit, if x and y are exchanged.
 */
static double product(const double *x, const double *y, size_t n)
{
	double a = 0, b = 0, c = 0, d = 0;
	size_t i = 0;

	for (; i + 4 <= n; i += 4) {
		a += x[i] * y[i];
		b += x[i + 1] * y[i + 1];
		c += x[i + 2] * y[i + 2];
		d += x[i + 3] * y[i + 3];
	}
	for (; i < n; i++)
		a += x[i] * y[i];
	return (a + b) + (c + d);
}

static double likeness(const struct space *s, uint32_t i, uint32_t j)
{
	return product(row(s, i), row(s, j), s->width) /
	       ((double)s->members[i] * (double)s->members[j]);
}

static uint32_t root_of(struct space *s, uint32_t event)
{
	while (s->parent[event] != event) {
		s->parent[event] = s->parent[s->parent[event]];
		event = s->parent[event];
	}
	return event;
}

/* Adds the events of row j to row i. */
static void join(struct space *s, uint32_t i, uint32_t j)
{
	double *into = row(s, i);
	const double *from = row(s, j);

	for (size_t k = 0; k < s->width; k++)
		into[k] += from[k];
	s->members[i] += s->members[j];
	s->parent[root_of(s, s->name[j])] = root_of(s, s->name[i]);
}

/*
 * Takes row i out of the active rows. The chain holds rows by number, so it follows the row that
 * moves.
 */
static void leave(struct space *s, uint32_t i)
{
	uint32_t last = --s->n_active;

	if (i == last)
		return;
	memcpy(row(s, i), row(s, last), s->width * sizeof(double));
	s->members[i] = s->members[last];
	s->name[i] = s->name[last];
	for (uint32_t k = 0; k < s->n_chain; k++)
		if (s->chain[k] == last)
			s->chain[k] = i;
}

/*
 * Fills one row for each event that varies. With bulk merging it fills one row for each group of
 * nearly equal events.
 */
static void fill(struct space *s, const double *counts, uint32_t n_events, double bulk)
{
	double *founders = bulk <= 1 ? xmalloc((n_events * s->width + 1) * sizeof(double)) : NULL;

	for (uint32_t event = 0; event < n_events; event++) {
		uint32_t n = s->n_active, to = bulk <= 1 ? 0 : n;

		s->parent[event] = CLUSTER_NONE;
		if (!correlation_unit(counts + event * s->width, s->width, row(s, n)))
			continue;
		while (to < n && product(founders + to * s->width, row(s, n), s->width) < bulk)
			to++;
		s->parent[event] = event;
		s->name[n] = event;
		s->members[n] = 1;
		if (to < n) {
			join(s, to, n);
			continue;
		}
		if (founders)
			memcpy(founders + n * s->width, row(s, n), s->width * sizeof(double));
		s->n_active++;
	}
	free(founders);
}

/*
 * Returns the nearest neighbor of row i: `preferred` if several are equally near, else the first of
 * them.
 */
static uint32_t nearest(const struct space *s, uint32_t i, uint32_t preferred, double *r)
{
	uint32_t best = preferred;

	*r = preferred == CLUSTER_NONE ? -2 : likeness(s, i, preferred);
	for (uint32_t j = 0; j < s->n_active; j++) {
		double other = j == i || j == preferred ? -2 : likeness(s, i, j);

		if (other > *r) {
			*r = other;
			best = j;
		}
	}
	return best;
}

/*
 * Does one step of the chain of nearest neighbors. The chain grows by the nearest neighbor of its
 * last row; or its last two rows are each other's nearest and merge; or the last row has no
 * neighbor above the threshold and leaves, which ends the chain.
 */
static void step(struct clusters *c, struct space *s, double threshold)
{
	uint32_t top, previous, next;
	double r;

	if (!s->n_chain)
		s->chain[s->n_chain++] = 0;
	top = s->chain[s->n_chain - 1];
	previous = s->n_chain > 1 ? s->chain[s->n_chain - 2] : CLUSTER_NONE;
	next = nearest(s, top, previous, &r);
	if (next == CLUSTER_NONE || r < threshold) {
		s->n_chain = 0;
		leave(s, top);
	} else if (next == previous) {
		s->n_chain -= 2;
		join(s, previous, top);
		*vec_add(&c->merges) = (struct cluster_merge){ r, s->members[previous] };
		leave(s, top);
	} else {
		s->chain[s->n_chain++] = next;
	}
}

static void number(struct clusters *c, struct space *s, uint32_t n_events)
{
	uint32_t *of_root = xmalloc((n_events + 1) * sizeof(*of_root));

	for (uint32_t i = 0; i < n_events; i++)
		of_root[i] = CLUSTER_NONE;
	for (uint32_t i = 0; i < n_events; i++) {
		uint32_t root = s->parent[i] == CLUSTER_NONE ? CLUSTER_NONE : root_of(s, i);

		if (root != CLUSTER_NONE && of_root[root] == CLUSTER_NONE)
			of_root[root] = c->n++;
		c->of[i] = root == CLUSTER_NONE ? CLUSTER_NONE : of_root[root];
	}
	free(of_root);
}

static int by_r(const void *a, const void *b)
{
	double x = ((const struct cluster_merge *)a)->r, y = ((const struct cluster_merge *)b)->r;

	return (x < y) - (x > y);
}

void clusters_build(struct clusters *c, const double *counts, uint32_t n_events, size_t n_threads,
		    const struct cluster_options *o)
{
	struct space s = {
		.width = n_threads,
		.sums = xmalloc((n_events + 1) * n_threads * sizeof(double)),
		.members = xcalloc(n_events + 1, sizeof(uint32_t)),
		.name = xcalloc(n_events + 1, sizeof(uint32_t)),
		.parent = xcalloc(n_events + 1, sizeof(uint32_t)),
		.chain = xcalloc(n_events + 1, sizeof(uint32_t)),
	};

	*c = (struct clusters){ .of = xcalloc(n_events + 1, sizeof(uint32_t)) };
	fill(&s, counts, n_events, o->bulk);
	while (s.n_active)
		step(c, &s, o->threshold > -1 ? o->threshold : -2);
	number(c, &s, n_events);
	vec_sort(&c->merges, by_r);
	free(s.sums);
	free(s.members);
	free(s.name);
	free(s.parent);
	free(s.chain);
}

void clusters_release(struct clusters *c)
{
	free(c->of);
	vec_release(&c->merges);
	*c = (struct clusters){ 0 };
}
