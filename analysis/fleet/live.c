/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/fleet/live.h"

#include "base/hash.h"
#include "trace/fleet/block.h"

static size_t most(const struct fleet_live *l)
{
	return l->most ? l->most : FLEET_LIVE_MOST;
}

/* A presence becomes known when the thread leaves the CPU. So presences that began before the
 * buffer was full are still accepted afterwards. */
void fleet_live_ran(struct fleet_live *l, const struct fleet_span *p)
{
	if (l->presences.n >= most(l) && !l->full_ns)
		l->full_ns = p->end_ns;
	if (!l->full_ns || p->start_ns < l->full_ns)
		*vec_add(&l->presences) = *p;
}

/* Measures come in the order of their ends: those that ended before full_ns are all kept. */
void fleet_live_took(struct fleet_live *l, const struct fleet_span *m)
{
	if (l->full_ns && m->end_ns > l->full_ns)
		return;
	if (l->measures.n < most(l))
		*vec_add(&l->measures) = *m;
	else
		l->full_ns = m->end_ns;
}

static int by_lane(const void *a, const void *b)
{
	const struct fleet_span *x = a, *y = b;

	if (x->indicator != y->indicator)
		return x->indicator < y->indicator ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

static void find_lanes(struct fleet_spans *spans)
{
	vec_sort(spans, by_lane);
	spans->lanes.n = 0;
	for (size_t i = 0; i < spans->n; i++) {
		const struct fleet_span *s = &spans->data[i];

		if (!i || s[-1].indicator != s->indicator || s[-1].tid != s->tid ||
		    s[-1].cpu != s->cpu)
			vec_add(&spans->lanes)->at = i;
		vec_last(&spans->lanes)->end = i + 1;
	}
}

void fleet_live_begin(struct fleet_live *l)
{
	find_lanes(&l->presences);
	find_lanes(&l->measures);
}

/* ---- how far a block goes ---- */

/* Returns how many spans of the lane begin before time_ns and were not in an earlier block. */
static size_t lane_before(const struct fleet_spans *spans, const struct fleet_lane *lane,
			  uint64_t time_ns)
{
	return vec_search(i, lane->at, lane->end, spans->data[i].start_ns < time_ns) - lane->at;
}

static size_t spans_before(const struct fleet_spans *spans, uint64_t time_ns)
{
	size_t n = 0;

	vec_for_each (&spans->lanes, const struct fleet_lane, lane)
		n += lane_before(spans, lane, time_ns);
	return n;
}

static size_t all_before(const struct fleet_live *l, uint64_t time_ns)
{
	return spans_before(&l->presences, time_ns) + spans_before(&l->measures, time_ns);
}

/* Returns the latest end at which the block holds at most FLEET_BLOCK_SAMPLES spans. It is always
 * after from_ns, so that each block makes progress. */
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

/* A presence that lasts beyond the block is split, so that the next block has the rest. */
static void add_presences(struct fleet_live *l, struct fleet_lane *lane, uint64_t from_ns,
			  uint64_t to_ns, int64_t offset_ns, struct fleet_block *b)
{
	bool begun = false;

	for (; lane->at < lane->end; lane->at++) {
		const struct fleet_span *p = &l->presences.data[lane->at];
		uint64_t start_ns = p->start_ns > from_ns ? p->start_ns : from_ns;
		uint64_t end_ns = p->end_ns < to_ns ? p->end_ns : to_ns;

		if (p->start_ns >= to_ns)
			return;
		if (start_ns < end_ns) {
			if (!begun)
				fleet_block_track(b, p->cpu);
			begun = true;
			fleet_block_presence(b, app_in(b, l, p->app),
					     start_ns + (uint64_t)offset_ns,
					     end_ns + (uint64_t)offset_ns);
		}
		if (p->end_ns > to_ns)
			return;
	}
}

/* A call inside another is left out, because the time of the outer one includes it. */
static void add_measures(struct fleet_live *l, struct fleet_lane *lane, uint64_t from_ns,
			 uint64_t to_ns, int64_t offset_ns, struct fleet_block *b)
{
	const struct fleet_span *last = NULL;

	for (; lane->at < lane->end; lane->at++) {
		const struct fleet_span *m = &l->measures.data[lane->at];
		uint64_t length_ns = m->end_ns - m->start_ns;

		if (m->start_ns >= to_ns)
			return;
		if (m->start_ns < from_ns || m->end_ns > to_ns ||
		    (last && m->start_ns < last->end_ns)) {
			l->left_out++;
			continue;
		}
		if (!last)
			fleet_block_track_of(b, m->cpu, m->indicator);
		last = m;
		fleet_block_run(b, app_in(b, l, m->app), m->start_ns + (uint64_t)offset_ns);
		fleet_block_sample(b, length_ns, m->value);
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
	vec_for_each (&l->presences.lanes, struct fleet_lane, lane)
		add_presences(l, lane, from_ns, last_ns, offset_ns, b);
	vec_for_each (&l->measures.lanes, struct fleet_lane, lane)
		add_measures(l, lane, from_ns, last_ns, offset_ns, b);
	return last_ns;
}

void fleet_live_clear(struct fleet_live *l)
{
	vec_release(&l->presences);
	vec_release(&l->measures);
	l->full_ns = 0;
}

void fleet_live_release(struct fleet_live *l)
{
	vec_release(&l->presences);
	vec_release(&l->measures);
	vec_release(&l->presences.lanes);
	vec_release(&l->measures.lanes);
}
