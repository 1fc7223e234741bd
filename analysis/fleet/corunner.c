/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/fleet/corunner.h"

#include <string.h>

#include "trace/fleet/topology.h"
#include "trace/fleet/block.h"

const char *const corunner_class_names[CORUNNER_CLASSES] = {
	[CORUNNER_ALL] = "all",	    [CORUNNER_CPU] = "cpu",	  [CORUNNER_CORE] = "core",
	[CORUNNER_CACHE] = "cache", [CORUNNER_SOCKET] = "socket", [CORUNNER_OTHER] = "other",
	[CORUNNER_TRIO] = "trio",
};

enum corunner_class corunner_class_find(const char *name)
{
	for (int i = 0; i < CORUNNER_CLASSES; i++)
		if (!strcmp(corunner_class_names[i], name))
			return i;
	return CORUNNER_CLASSES;
}

enum corunner_class corunner_class(const struct topology *t, uint32_t cpu, uint32_t other)
{
	const struct topology_cpu *a = &t->cpus[cpu], *b = &t->cpus[other];

	if (cpu == other)
		return CORUNNER_CPU;
	if (cpu >= t->n || other >= t->n)
		return CORUNNER_OTHER;
	if (a->socket != b->socket)
		return CORUNNER_OTHER;
	return a->core == b->core     ? CORUNNER_CORE
	       : a->cache == b->cache ? CORUNNER_CACHE
				      : CORUNNER_SOCKET;
}

/* Returns the first sample of the run that ends after time_ns, or the index after its last
 * sample. */
static uint32_t first_ending_after(const struct fleet_block *b, const struct fleet_run *run,
				   uint64_t time_ns)
{
	return vec_search(i, run->first, run->first + run->n, b->samples.data[i].end_ns <= time_ns);
}

/* Returns the first sample that begins at time_ns or later. A sample begins where the one before it
 * ends, the first one where the run begins. */
static uint32_t first_starting_at(const struct fleet_block *b, const struct fleet_run *run,
				  uint64_t time_ns)
{
	uint32_t i;

	if (time_ns <= run->start_ns)
		return run->first;
	i = first_ending_after(b, run, time_ns - 1);
	return i < run->first + run->n ? i + 1 : i;
}

/* The other run lasted during the whole of these samples of base. */
static struct corunner_range covered(const struct fleet_block *b, const struct fleet_run *base,
				     const struct fleet_run *other)
{
	return (struct corunner_range){ .first = first_starting_at(b, base, other->start_ns),
					.end = first_ending_after(b, base, other->end_ns) };
}

static void add_range(struct corunners *c, const struct fleet_block *b,
		      const struct fleet_run *base, const struct fleet_run *other,
		      enum corunner_class class)
{
	struct corunner_range range = covered(b, base, other);

	if (range.first >= range.end)
		return;
	range.class = class;
	range.app = other->app;
	*vec_add(&c->ranges) = range;
}

/* Adds the runs of the other track that overlap base. Bases come in order of time, so the cursor
 * never moves back. */
static void scan_track(struct corunners *c, const struct fleet_block *b,
		       const struct fleet_run *base, const struct fleet_track *other,
		       enum corunner_class class, uint32_t *cursor)
{
	const struct fleet_run *runs = b->runs.data + other->first_run;

	while (*cursor < other->n_runs && runs[*cursor].end_ns <= base->start_ns)
		++*cursor;
	for (uint32_t i = *cursor; i < other->n_runs && runs[i].start_ns < base->end_ns; i++)
		add_range(c, b, base, &runs[i], class);
}

/* ---- turns on one CPU ---- */

static void add_turn(struct corunners *c, uint32_t app, uint64_t ns)
{
	uint32_t i = c->turn_of.data[app];

	if (i < c->turns.n && c->turns.data[i].app == app) {
		c->turns.data[i].ns += ns;
		return;
	}
	c->turn_of.data[app] = (uint32_t)c->turns.n;
	*vec_add(&c->turns) = (struct corunner_turn){ app, ns };
}

/* Sums how long each other application had the CPU between start and end. */
static void find_turns(struct corunners *c, const struct fleet_run *runs, uint32_t n, uint32_t own,
		       uint64_t start_ns, uint64_t end_ns)
{
	c->turns.n = 0;
	for (uint32_t i = 0; i < n && runs[i].start_ns < end_ns; i++) {
		uint64_t from_ns = runs[i].start_ns > start_ns ? runs[i].start_ns : start_ns;
		uint64_t to_ns = runs[i].end_ns < end_ns ? runs[i].end_ns : end_ns;

		if (runs[i].app != own && from_ns < to_ns)
			add_turn(c, runs[i].app, to_ns - from_ns);
	}
}

/* Returns the application that had the CPU longer than all others together, or NULL if none had. */
static const struct corunner_turn *longest_turn(const struct corunners *c)
{
	const struct corunner_turn *longest = NULL;
	uint64_t sum_ns = 0;

	vec_for_each (&c->turns, const struct corunner_turn, t) {
		sum_ns += t->ns;
		if (!longest || t->ns > longest->ns)
			longest = t;
	}
	return longest && 2 * longest->ns > sum_ns ? longest : NULL;
}

static void scan_turns(struct corunners *c, const struct fleet_block *b,
		       const struct fleet_run *base, const struct fleet_track *other,
		       uint32_t *cursor)
{
	const struct fleet_run *runs = b->runs.data + other->first_run;
	const struct corunner_turn *turn;

	for (uint32_t i = base->first; i < base->first + base->n; i++) {
		uint64_t start_ns = fleet_sample_start(b, base, i);

		while (*cursor < other->n_runs && runs[*cursor].end_ns <= start_ns)
			++*cursor;
		find_turns(c, runs + *cursor, other->n_runs - *cursor, base->app, start_ns,
			   b->samples.data[i].end_ns);
		turn = longest_turn(c);
		if (turn)
			*vec_add(&c->ranges) =
				(struct corunner_range){ CORUNNER_CPU, turn->app, i, i + 1 };
	}
}

/* ---- all ---- */

static int by_start(const void *a, const void *b)
{
	const struct corunner_range *x = a, *y = b;

	return (x->first > y->first) - (x->first < y->first);
}

static int by_key(const void *a, const void *b)
{
	const struct corunner_range *x = a, *y = b;

	if (x->class != y->class)
		return x->class < y->class ? -1 : 1;
	if (x->app != y->app)
		return x->app < y->app ? -1 : 1;
	return by_start(a, b);
}

static void count_alone(struct corunners *c, const struct fleet_run *base)
{
	uint32_t end = base->first;

	vec_sort(&c->ranges, by_start);
	vec_for_each (&c->ranges, const struct corunner_range, r) {
		if (r->first > end)
			c->alone[base->indicator] += r->first - end;
		end = r->end > end ? r->end : end;
	}
	c->alone[base->indicator] += base->first + base->n - end;
}

/* Ranges of one application overlap if it ran on several CPUs; such ranges are merged. */
static void visit_ranges(struct corunners *c, const struct fleet_run *base, corunner_visit visit,
			 void *ctx)
{
	struct corunner_range *r = c->ranges.data, *end = r + c->ranges.n, whole;

	vec_sort(&c->ranges, by_key);
	while (r < end) {
		whole = *r++;
		for (; r < end && r->class == whole.class && r->app == whole.app &&
		       r->first <= whole.end;
		     r++)
			whole.end = r->end > whole.end ? r->end : whole.end;
		visit(ctx, base, whole.class, whole.app, whole.first, whole.end - whole.first);
	}
}

static void scan(struct corunners *c, const struct fleet_block *b, const struct topology *t,
		 const struct fleet_run *base, uint32_t cpu, size_t teller)
{
	const struct fleet_track *other = &b->tracks.data[c->tellers.data[teller]];
	uint32_t *cursor = &c->cursors.data[teller];

	if (cpu != other->cpu)
		scan_track(c, b, base, other, corunner_class(t, cpu, other->cpu), cursor);
	else if (!fleet_track_has_samples(b, other))
		scan_turns(c, b, base, other, cursor);
}

static void find_of_track(struct corunners *c, const struct fleet_block *b,
			  const struct topology *t, const struct fleet_track *track,
			  corunner_visit visit, void *ctx)
{
	bool begun = false;

	for (uint32_t i = 0; i < track->n_runs; i++) {
		const struct fleet_run *base = &b->runs.data[track->first_run + i];

		if (!base->n)
			continue;
		if (!begun)
			memset(c->cursors.data, 0, c->tellers.n * sizeof(*c->cursors.data));
		begun = true;
		c->ranges.n = 0;
		for (size_t teller = 0; teller < c->tellers.n; teller++)
			if (&b->tracks.data[c->tellers.data[teller]] != track)
				scan(c, b, t, base, track->cpu, teller);
		count_alone(c, base);
		visit_ranges(c, base, visit, ctx);
	}
}

void corunners_find(struct corunners *c, const struct fleet_block *b, const struct topology *t,
		    corunner_visit visit, void *ctx)
{
	vec_reserve(&c->cursors, b->tracks.n + 1);
	vec_reserve(&c->tellers, b->tracks.n + 1);
	vec_reserve(&c->turn_of, b->apps.n + 1);
	memset(c->turn_of.data, 0, b->apps.n * sizeof(*c->turn_of.data));
	c->tellers.n = fleet_block_tellers(b, c->tellers.data);
	vec_for_each (&b->tracks, const struct fleet_track, track)
		find_of_track(c, b, t, track, visit, ctx);
}

void corunners_release(struct corunners *c)
{
	vec_release(&c->ranges);
	vec_release(&c->turns);
	vec_release(&c->turn_of);
	vec_release(&c->tellers);
	vec_release(&c->cursors);
}
