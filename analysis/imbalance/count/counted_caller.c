/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/imbalance/count/counted_caller.h"

#include <math.h>
#include <unistd.h>

#include "analysis/imbalance/count/counted_frame.h"
#include "analysis/imbalance/count/counted_graph.h"
#include "base/mem.h"
#include "base/place.h"

#define CALLERS_MAX 32 /* functions that a search visits */

/* Finds the innermost line of a place that the user can change. Returns its frame, 0 for the code
 * itself, or -1 if there is none. */
static int own_line(struct counted *c, uint32_t place, struct dso_cache *cache,
		    struct counted_frame *own)
{
	struct counted_frames frames = { 0 };
	int found = -1;

	counted_frames_at(c, place, cache, &frames);
	for (size_t i = 0; i < frames.n && found < 0; i++) {
		const struct counted_frame *f = &frames.data[i];
		const char *file = strtab_get(&c->run->names, f->file);

		if (!f->line || place_is_installed(file) || access(file, R_OK))
			continue;
		*own = *f;
		found = (int)i;
	}
	vec_release(&frames);
	return found;
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

/*
 * Returns the address of the function of at, as its callers know it: the lowest address to which
 * other functions lead. Edges to higher addresses are returns, as of a function that ends with a
 * jump to another one.
 */
static uint64_t entry_of(const struct counted *c, uint32_t at)
{
	const struct counts_place *places = c->run->places.data;
	uint64_t entry = UINT64_MAX;

	vec_for_each (&c->events, const struct lime_event, e)
		if (enters(c, e, at) && places[e->edge.to].address < entry)
			entry = places[e->edge.to].address;
	return entry;
}

/* The functions that a search has come to, each by a place in it. */
struct visited {
	uint32_t places[CALLERS_MAX];
	unsigned n;
};

static bool was_visited(const struct counted *c, const struct visited *v, uint32_t place)
{
	for (unsigned i = 0; i < v->n; i++)
		if (same_function(&c->run->places.data[v->places[i]], &c->run->places.data[place]))
			return true;
	return false;
}

/* Returns the place from which the function of at is called most unevenly, or of equally uneven
 * ones, most often. Leaves out functions that were visited. */
static uint32_t caller_of(const struct counted *c, const double *counts, size_t n, uint32_t at,
			  const struct visited *v)
{
	const struct counts_place *places = c->run->places.data;
	const uint64_t entry = entry_of(c, at);
	double most_uneven = -1, most_often = 0;
	uint32_t best = MAP_NONE;

	for (size_t i = 0; i < c->events.n; i++) {
		const struct lime_event *e = &c->events.data[i];
		const double *by_thread = counts + i * n;
		double least = INFINITY, most = 0, sum = 0;

		if (!enters(c, e, at) || places[e->edge.to].address != entry ||
		    was_visited(c, v, e->edge.from))
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
		best = e->edge.from;
	}
	return best;
}

/* The state of a search for a caller, and the line that it found. */
struct search {
	struct counted *c;
	const double *counts;
	size_t n_threads;
	struct dso_cache *cache;
	struct visited visited;
	struct counted_frame from;
};

/* Returns the nearest caller of the function of at with a line that the user can change, or
 * MAP_NONE. Tries another caller if one is called by functions only that were visited, as those
 * that call each other. */
static uint32_t search_callers(struct search *s, uint32_t at)
{
	uint32_t found = MAP_NONE, caller;

	s->visited.places[s->visited.n++] = at;
	while (found == MAP_NONE && s->visited.n < CALLERS_MAX) {
		caller = caller_of(s->c, s->counts, s->n_threads, at, &s->visited);
		if (caller == MAP_NONE)
			break;
		found = own_line(s->c, caller, s->cache, &s->from) >= 0 ? caller
									: search_callers(s, caller);
	}
	return found;
}

uint32_t counted_caller(struct counted *c, const struct parallel_section *s, uint32_t place,
			struct dso_cache *cache, struct counted_frame *from)
{
	struct search search = { .c = c, .n_threads = s->threads.n, .cache = cache };
	int own = own_line(c, place, cache, from);
	uint32_t caller;
	double *counts;

	if (own >= 0)
		return own ? place : MAP_NONE;
	search.counts = counts = counts_by_thread(c, s);
	caller = search_callers(&search, place);
	*from = search.from;
	free(counts);
	return caller;
}
