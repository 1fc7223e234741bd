/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/fleet_live.h"

#include "base/hash.h"
#include "trace/fleet_block.h"

static int by_cpu(const void *a, const void *b)
{
	const struct fleet_presence *x = a, *y = b;

	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

static int by_thread(const void *a, const void *b)
{
	const struct fleet_measure *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

void fleet_live_sort(struct fleet_live *l)
{
	vec_sort(&l->presences, by_cpu);
	vec_sort(&l->measures, by_thread);
}

static uint32_t app_in(struct fleet_block *b, const struct fleet_live *l, uint32_t app)
{
	return fleet_block_app(b, strtab_get(l->apps, app));
}

static void add_presences(struct fleet_live *l, uint64_t from_ns, uint64_t to_ns, int64_t offset_ns,
			  struct fleet_block *b)
{
	uint32_t cpu = UINT32_MAX;

	vec_for_each (&l->presences, const struct fleet_presence, p) {
		uint64_t start_ns = p->start_ns > from_ns ? p->start_ns : from_ns;
		uint64_t end_ns = p->end_ns < to_ns ? p->end_ns : to_ns;

		if (start_ns >= end_ns)
			continue;
		if (p->cpu != cpu)
			fleet_block_track(b, p->cpu);
		cpu = p->cpu;
		fleet_block_presence(b, app_in(b, l, p->app), start_ns + (uint64_t)offset_ns,
				     end_ns + (uint64_t)offset_ns);
	}
}

/* Calls inside of others are in their time already. */
static void add_measures(struct fleet_live *l, uint64_t from_ns, uint64_t to_ns, int64_t offset_ns,
			 struct fleet_block *b)
{
	const struct fleet_measure *last = NULL;

	vec_for_each (&l->measures, const struct fleet_measure, m) {
		uint64_t length_ns = m->end_ns - m->start_ns;
		bool same = last && last->tid == m->tid && last->cpu == m->cpu;

		if (m->start_ns < from_ns || m->start_ns >= to_ns)
			continue;
		if (m->end_ns > to_ns || (same && m->start_ns < last->end_ns)) {
			l->left_out++;
			continue;
		}
		if (!same)
			fleet_block_track(b, m->cpu);
		last = m;
		fleet_block_run(b, app_in(b, l, m->app), m->start_ns + (uint64_t)offset_ns);
		fleet_block_sample(b, length_ns, (uint32_t)length_ns);
	}
}

void fleet_live_block(struct fleet_live *l, uint64_t sequence, uint64_t from_ns, int64_t offset_ns,
		      struct fleet_block *b)
{
	uint64_t to_ns = from_ns + FLEET_LIVE_BLOCK_NS;

	fleet_block_begin(b, sequence, from_ns + (uint64_t)offset_ns);
	add_presences(l, from_ns, to_ns, offset_ns, b);
	add_measures(l, from_ns, to_ns, offset_ns, b);
}

void fleet_live_release(struct fleet_live *l)
{
	vec_release(&l->presences);
	vec_release(&l->measures);
}
