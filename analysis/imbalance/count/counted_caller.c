/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/imbalance/count/counted_caller.h"

#include <math.h>
#include <unistd.h>

#include "analysis/imbalance/count/counted_graph.h"
#include "base/mem.h"

#define CALLERS_MAX 32 /* bounds the search, because functions may call each other recursively */

static bool at_hand(const struct counted *c, const struct counts_place *p)
{
	return p->line && !access(strtab_get(&c->run->names, p->file), R_OK);
}

static bool same_function(const struct counts_place *x, const struct counts_place *y)
{
	return x->function == y->function && x->object == y->object;
}

/* Whether an event is an edge from another function into the function of at. */
static bool enters(const struct counted *c, const struct lime_event *e, uint32_t at)
{
	const struct counts_place *places = c->run->places.data;

	return e->kind == LIME_EDGE && same_function(&places[e->edge.to], &places[at]) &&
	       !same_function(&places[e->edge.from], &places[at]);
}

/* Returns [event * threads + thread]: how often the event happened in the section. Freed by the
 * caller. */
static double *counts_by_thread(const struct counted *c, const struct parallel_section *s)
{
	double *counts = xcalloc(c->events.n * s->threads.n + 1, sizeof(*counts));

	vec_for_each (&c->dumps, const struct counted_dump, d) {
		size_t t = 0;

		if (d->key.section != s->number)
			continue;
		while (t < s->threads.n && s->threads.data[t].thread != d->key.thread)
			t++;
		vec_for_each (&d->counts, const struct counted_count, k)
			if (t < s->threads.n)
				counts[k->event * s->threads.n + t] += k->count;
	}
	return counts;
}

/* Returns the place from which the function of at is called most unevenly, or of equally uneven
 * ones, most often. */
static uint32_t caller_of(const struct counted *c, const double *counts, size_t n, uint32_t at)
{
	double most_uneven = -1, most_often = 0;
	uint32_t best = MAP_NONE;

	for (size_t i = 0; i < c->events.n; i++) {
		const double *by_thread = counts + i * n;
		double least = INFINITY, most = 0, sum = 0;

		if (!enters(c, &c->events.data[i], at))
			continue;
		for (size_t t = 0; t < n; t++) {
			least = fmin(least, by_thread[t]);
			most = fmax(most, by_thread[t]);
			sum += by_thread[t];
		}
		if (sum <= 0 || most - least < most_uneven ||
		    (most - least == most_uneven && sum <= most_often))
			continue;
		most_uneven = most - least;
		most_often = sum;
		best = c->events.data[i].edge.from;
	}
	return best;
}

uint32_t counted_caller(const struct counted *c, const struct parallel_section *s, uint32_t place)
{
	const struct counts_place *places = c->run->places.data;
	uint32_t at = place;
	double *counts;

	if (at_hand(c, &places[place]))
		return MAP_NONE;
	counts = counts_by_thread(c, s);
	for (unsigned i = 0; i < CALLERS_MAX && at != MAP_NONE && !at_hand(c, &places[at]); i++)
		at = caller_of(c, counts, s->threads.n, at);
	free(counts);
	return at == MAP_NONE || !at_hand(c, &places[at]) ? MAP_NONE : at;
}
