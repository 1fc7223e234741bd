/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/fleet_live.h"

#include "base/hash.h"
#include "trace/fleet_block.h"

static size_t most(const struct fleet_live *l)
{
	return l->most ? l->most : FLEET_LIVE_MOST;
}

/* Of what began before it was full the rest comes later: who has a CPU is known when he leaves it.
 */
void fleet_live_ran(struct fleet_live *l, const struct fleet_presence *p)
{
	if (l->presences.n >= most(l) && !l->full_ns)
		l->full_ns = p->end_ns;
	if (!l->full_ns || p->start_ns < l->full_ns)
		*vec_add(&l->presences) = *p;
}

/* Those that ended before one that finds no room are all there. */
void fleet_live_took(struct fleet_live *l, const struct fleet_measure *m)
{
	if (l->full_ns && m->end_ns > l->full_ns)
		return;
	if (l->measures.n < most(l))
		*vec_add(&l->measures) = *m;
	else
		l->full_ns = m->end_ns;
}

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

static void add_lane(struct fleet_lanes *lanes, size_t i, bool same)
{
	if (!same)
		*vec_add(lanes) = (struct fleet_lane){ .at = i };
	vec_last(lanes)->end = i + 1;
}

void fleet_live_begin(struct fleet_live *l)
{
	vec_sort(&l->presences, by_cpu);
	vec_sort(&l->measures, by_thread);
	l->presence_lanes.n = l->measure_lanes.n = 0;
	vec_for_each (&l->presences, const struct fleet_presence, p)
		add_lane(&l->presence_lanes, (size_t)(p - l->presences.data),
			 p != l->presences.data && p[-1].cpu == p->cpu);
	vec_for_each (&l->measures, const struct fleet_measure, m)
		add_lane(&l->measure_lanes, (size_t)(m - l->measures.data),
			 m != l->measures.data && m[-1].tid == m->tid && m[-1].cpu == m->cpu);
}

/* ---- how far a block goes ---- */

static size_t presences_before(const struct fleet_live *l, const struct fleet_lane *lane,
			       uint64_t time_ns)
{
	size_t low = lane->at, high = lane->end, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (l->presences.data[middle].start_ns < time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low - lane->at;
}

static size_t measures_before(const struct fleet_live *l, const struct fleet_lane *lane,
			      uint64_t time_ns)
{
	size_t low = lane->at, high = lane->end, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (l->measures.data[middle].start_ns < time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low - lane->at;
}

/* What begins before time_ns and was in no block. */
static size_t all_before(const struct fleet_live *l, uint64_t time_ns)
{
	size_t n = 0;

	vec_for_each (&l->presence_lanes, const struct fleet_lane, lane)
		n += presences_before(l, lane, time_ns);
	vec_for_each (&l->measure_lanes, const struct fleet_lane, lane)
		n += measures_before(l, lane, time_ns);
	return n;
}

/* The latest end of a block with no more than a block takes; beyond from_ns anyhow. */
static uint64_t end_of(const struct fleet_live *l, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t low = from_ns + 1, high = to_ns, middle;

	if (all_before(l, to_ns) <= FLEET_BLOCK_SAMPLES)
		return to_ns;
	while (low < high) {
		middle = high - (high - low) / 2;
		if (all_before(l, middle) <= FLEET_BLOCK_SAMPLES)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

/* ---- a block ---- */

static uint32_t app_in(struct fleet_block *b, const struct fleet_live *l, uint32_t app)
{
	return fleet_block_app(b, strtab_get(l->apps, app));
}

/* One that lasts beyond the block is in the next one, too. */
static void add_presences(struct fleet_live *l, struct fleet_lane *lane, uint64_t from_ns,
			  uint64_t to_ns, int64_t offset_ns, struct fleet_block *b)
{
	bool begun = false;

	for (; lane->at < lane->end; lane->at++) {
		const struct fleet_presence *p = &l->presences.data[lane->at];
		uint64_t start_ns = p->start_ns > from_ns ? p->start_ns : from_ns;
		uint64_t end_ns = p->end_ns < to_ns ? p->end_ns : to_ns;

		if (p->start_ns >= to_ns)
			return;
		if (!begun && start_ns < end_ns)
			fleet_block_track(b, p->cpu);
		begun = begun || start_ns < end_ns;
		if (start_ns < end_ns)
			fleet_block_presence(b, app_in(b, l, p->app),
					     start_ns + (uint64_t)offset_ns,
					     end_ns + (uint64_t)offset_ns);
		if (p->end_ns > to_ns)
			return;
	}
}

/* Calls inside of others are in their time already. */
static void add_measures(struct fleet_live *l, struct fleet_lane *lane, uint64_t from_ns,
			 uint64_t to_ns, int64_t offset_ns, struct fleet_block *b)
{
	const struct fleet_measure *last = NULL;

	for (; lane->at < lane->end; lane->at++) {
		const struct fleet_measure *m = &l->measures.data[lane->at];
		uint64_t length_ns = m->end_ns - m->start_ns;

		if (m->start_ns >= to_ns)
			return;
		if (m->start_ns < from_ns || m->end_ns > to_ns ||
		    (last && m->start_ns < last->end_ns)) {
			l->left_out++;
			continue;
		}
		if (!last)
			fleet_block_track(b, m->cpu);
		last = m;
		fleet_block_run(b, app_in(b, l, m->app), m->start_ns + (uint64_t)offset_ns);
		fleet_block_sample(b, length_ns, (uint32_t)length_ns);
	}
}

uint64_t fleet_live_block(struct fleet_live *l, uint64_t sequence, uint64_t from_ns, uint64_t to_ns,
			  int64_t offset_ns, struct fleet_block *b)
{
	uint64_t last_ns = l->full_ns && l->full_ns < to_ns ? l->full_ns : to_ns;

	fleet_block_begin(b, sequence, from_ns + (uint64_t)offset_ns);
	if (from_ns >= last_ns)
		return to_ns;
	if (last_ns > from_ns + FLEET_LIVE_BLOCK_NS)
		last_ns = from_ns + FLEET_LIVE_BLOCK_NS;
	last_ns = end_of(l, from_ns, last_ns);
	vec_for_each (&l->presence_lanes, struct fleet_lane, lane)
		add_presences(l, lane, from_ns, last_ns, offset_ns, b);
	vec_for_each (&l->measure_lanes, struct fleet_lane, lane)
		add_measures(l, lane, from_ns, last_ns, offset_ns, b);
	return last_ns;
}

void fleet_live_clear(struct fleet_live *l)
{
	l->presences.n = l->measures.n = 0;
	l->full_ns = 0;
}

void fleet_live_release(struct fleet_live *l)
{
	vec_release(&l->presences);
	vec_release(&l->measures);
	vec_release(&l->presence_lanes);
	vec_release(&l->measure_lanes);
}
