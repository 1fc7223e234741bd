/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/fleet/crowd.h"

#include "analysis/fleet/rows.h"
#include "base/cpus.h"
#include "base/mem.h"
#include "trace/fleet/block.h"

struct change {
	uint64_t time_ns;
	uint32_t app, cpu;
	int32_t by; /* +1: a run begins, -1: it ends */
};

struct changes {
	VEC(struct change)
};

static int by_time(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return (x->by > y->by) - (x->by < y->by);
}

static void add_runs(struct changes *changes, const struct fleet_block *b,
		     const struct fleet_track *track)
{
	for (uint32_t i = 0; i < track->n_runs; i++) {
		const struct fleet_run *run = &b->runs.data[track->first_run + i];

		*vec_add(changes) = (struct change){ run->start_ns, run->app, track->cpu, 1 };
		*vec_add(changes) = (struct change){ run->end_ns, run->app, track->cpu, -1 };
	}
}

/* Adds by to a counter. busy is the number of counters that are not 0; returns its new value. */
static uint32_t count(uint32_t *of, int32_t by, uint32_t busy)
{
	uint32_t before = *of;

	*of = (uint32_t)((int32_t)*of + by);
	return busy + (!before && *of) - (before && !*of);
}

/* Only tracks of CPU presence count: a call continues while its thread sleeps and has no CPU. */
static void add_tellers(struct changes *changes, const struct fleet_block *b)
{
	uint32_t *tellers = xcalloc(b->tracks.n + 1, sizeof(*tellers));
	size_t n = fleet_block_tellers(b, tellers);

	for (size_t i = 0; i < n; i++)
		add_runs(changes, b, &b->tracks.data[tellers[i]]);
	free(tellers);
}

void fleet_crowd_find(const struct fleet_block *b,
		      void (*visit)(void *ctx, uint32_t kind, uint32_t number, uint64_t ns),
		      void *ctx)
{
	uint32_t *apps = xcalloc(b->apps.n + 1, sizeof(*apps)), running = 0, busy = 0;
	uint32_t *cpus = xcalloc(CPUS_MAX, sizeof(*cpus));
	struct changes changes = { 0 };

	add_tellers(&changes, b);
	vec_sort(&changes, by_time);
	for (size_t i = 0; i < changes.n; i++) {
		const struct change *c = &changes.data[i];

		if (i && c->time_ns > c[-1].time_ns) {
			visit(ctx, FLEET_BUSY_CPUS, busy, c->time_ns - c[-1].time_ns);
			visit(ctx, FLEET_APPS, running, c->time_ns - c[-1].time_ns);
		}
		busy = count(&cpus[c->cpu], c->by, busy);
		running = count(&apps[c->app], c->by, running);
	}
	vec_release(&changes);
	free(apps);
	free(cpus);
}

/* Returns the time by number, freed by the caller. */
static uint64_t *sort_out(const struct fleet_rows *rows, uint32_t kind,
			  struct fleet_crowd_summary *sum)
{
	uint64_t *by_number;

	vec_for_each (&rows->crowds, const struct fleet_crowd, c)
		if (c->kind == kind && c->number > sum->most)
			sum->most = c->number;
	by_number = xcalloc(sum->most + 1, sizeof(*by_number));
	vec_for_each (&rows->crowds, const struct fleet_crowd, c) {
		if (c->kind != kind)
			continue;
		by_number[c->number] += c->ns;
		sum->ns += c->ns;
		sum->mean += (double)c->number * (double)c->ns;
	}
	return by_number;
}

struct fleet_crowd_summary fleet_crowd_sum(const struct fleet_rows *rows, uint32_t kind)
{
	struct fleet_crowd_summary sum = { 0 };
	uint64_t *by_number = sort_out(rows, kind, &sum), seen = 0;

	for (uint32_t i = 0; i <= sum.most && sum.ns; i++) {
		seen += by_number[i];
		if (2 * seen < sum.ns)
			continue;
		sum.median = i;
		break;
	}
	if (sum.ns)
		sum.mean /= (double)sum.ns;
	free(by_number);
	return sum;
}
