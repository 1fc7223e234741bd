/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/imbalance/count/counted.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/imbalance/count/counted_caller.h"
#include "analysis/imbalance/count/counted_cut.h"
#include "analysis/imbalance/count/counted_graph.h"
#include "analysis/imbalance/section/parallel_role.h"
#include "base/mem.h"
#include "symbol/dso/cache.h"

#define ALIKE 0.005 /* scores that differ by no more print equally */

/* ---- instances: dumps of several threads ---- */

static int by_instance(const void *a, const void *b)
{
	const struct counted_dump *x = a, *y = b;

	if (x->key.group != y->key.group)
		return x->key.group < y->key.group ? -1 : 1;
	if (x->name != y->name)
		return x->name < y->name ? -1 : 1;
	if (x->since != y->since)
		return x->since < y->since ? -1 : 1;
	return (x->key.thread > y->key.thread) - (x->key.thread < y->key.thread);
}

static bool same_instance(const struct counted_dump *x, const struct counted_dump *y)
{
	return x->key.group == y->key.group && x->name == y->name && x->since == y->since;
}

/* A matrix of the events of an instance. events[row]: number of the event. */
struct matrix {
	uint32_t n;
	uint32_t *events, *row_of; /* row_of[event] */
	struct lime_event *rows;
	double *counts, *times;
};

static uint32_t matrix_row(struct matrix *m, uint32_t event)
{
	if (m->row_of[event] == LIME_NONE) {
		m->row_of[event] = m->n;
		m->events[m->n++] = event;
	}
	return m->row_of[event];
}

static void matrix_fill(struct matrix *m, const struct counted *c, const struct counted_dump *dumps,
			size_t n)
{
	uint32_t all = (uint32_t)c->events.n;

	m->events = xcalloc(all + 1, sizeof(uint32_t));
	m->row_of = xmalloc((all + 1) * sizeof(uint32_t));
	memset(m->row_of, 0xff, (all + 1) * sizeof(uint32_t));
	m->times = xcalloc(n, sizeof(double));
	for (size_t t = 0; t < n; t++)
		vec_for_each (&dumps[t].counts, const struct counted_count, k)
			matrix_row(m, k->event);
	m->rows = xcalloc(m->n + 1, sizeof(*m->rows));
	m->counts = xcalloc(m->n * n + 1, sizeof(double));
	for (uint32_t i = 0; i < m->n; i++) {
		m->rows[i] = c->events.data[m->events[i]];
		if (m->rows[i].superior != LIME_NONE)
			m->rows[i].superior = m->row_of[m->rows[i].superior];
	}
	for (size_t t = 0; t < n; t++) {
		m->times[t] = dumps[t].time;
		vec_for_each (&dumps[t].counts, const struct counted_count, k)
			m->counts[m->row_of[k->event] * n + t] += k->count;
	}
}

static void matrix_release(struct matrix *m)
{
	free(m->events);
	free(m->row_of);
	free(m->rows);
	free(m->counts);
	free(m->times);
}

static struct counted_section *section_of(struct counted *c, uint32_t number)
{
	while (c->sections.n <= number)
		vec_add(&c->sections)->answer = LIME_BALANCED;
	return &c->sections.data[number];
}

static void analyse(struct counted *c, struct counted_section *s, const struct counted_dump *dumps,
		    size_t n, const struct lime_options *o)
{
	struct matrix m = { 0 };
	struct lime_instance in = { .n_threads = (uint32_t)n };
	struct lime l;

	matrix_fill(&m, c, dumps, n);
	in.n_events = m.n;
	in.events = m.rows;
	in.counts = m.counts;
	in.times = m.times;
	lime_analyse(&l, &in, o);
	vec_for_each (&l.causes, struct lime_cause, cause)
		cause->event = m.events[cause->event];
	lime_total_add(&s->total, &l);
	if (s->answer != LIME_FOUND && (l.answer == LIME_FOUND || l.imbalance >= s->worst)) {
		s->answer = l.answer;
		s->worst = l.imbalance;
	}
	lime_release(&l);
	matrix_release(&m);
}

static void add_instance(struct counted *c, struct counted_dump *dumps, size_t n,
			 const struct lime_options *o)
{
	struct section_part *parts = xcalloc(n + 1, sizeof(*parts));
	uint32_t number;

	for (size_t i = 0; i < n; i++)
		parts[i] = (struct section_part){ .thread = dumps[i].key.thread,
						  .time = dumps[i].time,
						  .cpu_wait = NAN,
						  .asleep = NAN };
	number = imbalance_add(&c->imbalance, dumps->kind, strtab_get(&c->run->names, dumps->name),
			       strtab_get(&c->run->names, dumps->since), parts, n);
	free(parts);
	if (number == MAP_NONE)
		return;
	for (size_t i = 0; i < n; i++)
		dumps[i].key.section = number;
	analyse(c, section_of(c, number), dumps, n, o);
}

/* ---- causes of a section ---- */

static const char *what_of(const struct counted *c, const struct lime_cause *cause)
{
	const struct lime_event *e = &c->events.data[cause->event];
	const struct counts *run = c->run;

	if (e->kind == LIME_HARDWARE && run->event)
		return run->event;
	if (e->kind == LIME_HARDWARE)
		return c->events.data[e->superior].kind == LIME_EXECUTIONS ? "cache-misses"
									   : "memory";
	if (e->edge.back)
		return "loop";
	return run->places.data[e->edge.from].function == run->places.data[e->edge.to].function
		       ? "branch"
		       : "call";
}

static void sum_counts(struct counted *c, const struct parallel_section *s,
		       const struct lime_cause *cause, double *counts)
{
	vec_for_each (&c->dumps, const struct counted_dump, d) {
		size_t t = 0;

		if (d->key.section != s->number)
			continue;
		while (t < s->threads.n && s->threads.data[t].thread != d->key.thread)
			t++;
		vec_for_each (&d->counts, const struct counted_count, k)
			if (k->event == cause->event && t < s->threads.n)
				counts[t] += k->count;
	}
}

/* Moves lines that the user can change before others with scores that print equally. */
static void own_lines_first(struct counted_section *of)
{
	for (size_t i = 1; i < of->causes.n; i++)
		for (size_t j = i; j > 0; j--) {
			struct counted_cause *x = &of->causes.data[j], *before = x - 1, own = *x;

			if (x->caller != MAP_NONE || before->caller == MAP_NONE ||
			    before->score - x->score > ALIKE)
				break;
			*x = *before;
			*before = own;
		}
}

static void name_causes(struct counted *c, const struct parallel_section *s,
			struct dso_cache *cache)
{
	struct counted_section *of = &c->sections.data[s->number];

	lime_total_finish(&of->total);
	vec_for_each (&of->total.causes, const struct lime_cause, cause) {
		struct counted_cause *named;

		if (cause->score < LIME_IMPORTANT)
			continue;
		named = vec_add(&of->causes);
		named->score = cause->score;
		named->kind = c->events.data[cause->event].kind;
		named->what = what_of(c, cause);
		named->place = cause->decider;
		named->towards =
			named->kind == LIME_EDGE ? c->events.data[cause->event].edge.to : MAP_NONE;
		named->caller = counted_caller(c, s, named->place, cache, &named->from);
		named->counts = xcalloc(s->threads.n + 1, sizeof(double));
		sum_counts(c, s, cause, named->counts);
		counted_frames_at(c, named->place, cache, &named->frames);
	}
	own_lines_first(of);
	/* no cause is important enough */
	if (of->answer == LIME_FOUND && !of->causes.n)
		of->answer = LIME_UNRELATED;
}

/* Threads are numbered from 1; those of joins from 0. */
static void name_threads(struct counted *c, uint32_t n)
{
	for (uint32_t i = 0; i <= n; i++)
		imbalance_name(&c->imbalance, i, "");
}

/* Names the causes, once all sections and their threads are known. */
static void name_all(struct counted *c)
{
	struct dso_cache *cache = dso_cache_new();

	vec_for_each (&c->imbalance.sections, const struct parallel_section, s) {
		section_of(c, s->number);
		name_causes(c, s, cache);
	}
	dso_cache_free(cache);
}

void counted_find(struct counted *c, const struct counts *run, const struct lime_options *o)
{
	size_t first = 0;

	counted_begin(c, run);
	c->min_idle = o->min_idle;
	name_threads(c, counted_cut(c));
	counted_graph_finish(c);
	vec_sort(&c->dumps, by_instance);
	for (size_t i = 1; i <= c->dumps.n; i++)
		if (i == c->dumps.n || !same_instance(&c->dumps.data[first], &c->dumps.data[i])) {
			add_instance(c, c->dumps.data + first, i - first, o);
			first = i;
		}
	imbalance_sort(&c->imbalance);
	name_all(c);
}

/* ---- counts from samples ---- */

void counted_begin(struct counted *c, const struct counts *run)
{
	*c = (struct counted){ .run = run, .imbalance.keeps_each = c->imbalance.keeps_each };
	counted_graph_init(c);
}

void counted_add_part(struct counted *c, const struct counted_part *part,
		      const struct counts_dump *d)
{
	struct counted_dump cut = { .key = part->key };

	cut.key.instance = 0;
	counted_graph_dump(c, d, &cut.counts);
	cut.time = part->time;
	*vec_add(&c->dumps) = cut;
}

void counted_finish(struct counted *c, struct imbalance *imbalance, const struct lime_options *o)
{
	size_t first = 0;

	c->imbalance = *imbalance;
	c->min_idle = o->min_idle;
	*imbalance = (struct imbalance){ 0 };
	counted_graph_finish(c);
	vec_sort(&c->dumps, part_key_by_group);
	for (size_t i = 1; i <= c->dumps.n; i++) {
		struct counted_dump *d = c->dumps.data + first;

		if (i < c->dumps.n && part_key_same_group(&d->key, &c->dumps.data[i].key))
			continue;
		analyse(c, section_of(c, d->key.section), d, i - first, o);
		first = i;
	}
	name_all(c);
}

void counted_release(struct counted *c)
{
	vec_for_each (&c->dumps, struct counted_dump, d)
		vec_release(&d->counts);
	vec_release(&c->dumps);
	vec_for_each (&c->sections, struct counted_section, s) {
		vec_for_each (&s->causes, struct counted_cause, cause) {
			vec_release(&cause->frames);
			free(cause->counts);
		}
		vec_release(&s->causes);
		lime_total_release(&s->total);
	}
	vec_release(&c->sections);
	vec_release(&c->events);
	map_release(&c->event_of);
	map_release(&c->body_names);
	imbalance_release(&c->imbalance);
	free(c->node_of);
	free(c->sorted);
}
