// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/inproc/ringmemory.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

#include "probes/inproc/drain.h"

#define FREE_NS 1000000000ull /* a ring that is free for longer gives its memory back */

static uint64_t records_of_ring(const struct inproc_region *g)
{
	return g->header.ring_bytes / sizeof(struct inproc_stamp);
}

static uint64_t records_of_page(void)
{
	return (uint64_t)sysconf(_SC_PAGESIZE) / sizeof(struct inproc_stamp);
}

/* Returns whether rings consist of whole pages, and are not full for want of a part of one. On
 * machines with large pages they do not, and nothing is given back. */
static bool has_pages(const struct inproc_region *g)
{
	return (uintptr_t)g->rings % (uintptr_t)sysconf(_SC_PAGESIZE) == 0 &&
	       records_of_ring(g) >= 4 * records_of_page();
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Returns for how many records before the position the ring has memory, if none of it was given
 * back after a read. */
static uint64_t held_before(const struct inproc_region *g, const struct inproc_seen *seen,
			    uint64_t position)
{
	return least(position - seen->emptied, records_of_ring(g));
}

/* A ring that gives back has what it had before, as far as later records are not in its place. */
static uint64_t held(const struct inproc_region *g, const struct inproc_seen *seen)
{
	const uint64_t all = held_before(g, seen, seen->at);

	if (!seen->gives_back)
		return all;
	return all > seen->at - seen->gives_since ? all - (seen->at - seen->gives_since) : 0;
}

static void count(struct inproc_drain *d, const struct inproc_region *g, struct inproc_seen *seen)
{
	const uint64_t now = held(g, seen);

	d->ring_memory += (now - seen->held) * sizeof(struct inproc_stamp);
	seen->held = now;
}

/* Both positions are beginnings of pages, and at most a ring apart. Returns whether the system took
 * the memory back. */
static bool give_back(const struct inproc_region *g, uint32_t slot, uint64_t from, uint64_t to)
{
	const uint64_t first = from % records_of_ring(g), n = to - from;
	const uint64_t before_end = least(records_of_ring(g) - first, n);
	const size_t record = sizeof(struct inproc_stamp);
	char *ring = (char *)g->rings + slot * g->header.ring_bytes;

	return !madvise(ring + first * record, before_end * record, MADV_REMOVE) &&
	       (before_end == n || !madvise(ring, (n - before_end) * record, MADV_REMOVE));
}

static void decide(const struct inproc_drain *d, const struct inproc_region *g, uint32_t slot)
{
	const bool is_over = d->ring_memory_most && d->ring_memory > d->ring_memory_most;
	struct inproc_seen *seen = &g->seen[slot];

	if (seen->gives_back || (!is_over && slot < g->large_rings))
		return;
	seen->gives_back = has_pages(g);
	seen->gives_since = seen->at;
}

uint64_t ringmemory_after_read(struct inproc_drain *d, struct inproc_region *g, uint32_t slot,
			       uint64_t before)
{
	struct inproc_seen *seen = &g->seen[slot];
	const uint64_t page = records_of_page(), from = (seen->tail + page - 1) / page * page,
		       to = seen->at / page * page;

	g->first_records += seen->gives_back
				    ? seen->at - before
				    : held_before(g, seen, seen->at) - held_before(g, seen, before);
	count(d, g, seen);
	decide(d, g, slot);
	if (!seen->gives_back)
		return seen->at;
	if (to <= seen->tail)
		return seen->tail;
	if (from < to)
		give_back(g, slot, from, to);
	return to;
}

void ringmemory_end_thread(struct inproc_drain *d, struct inproc_region *g, uint32_t slot)
{
	struct inproc_seen *seen = &g->seen[slot];

	seen->tail_before = seen->tail = seen->at;
	atomic_store_explicit(&g->slots[slot].tail, seen->at, memory_order_release);
	seen->free_since_ns = d->last.ns;
}

void ringmemory_forget(struct inproc_drain *d, const struct inproc_region *g)
{
	for (uint32_t i = 0; i < g->n_rings; i++)
		d->ring_memory -= g->seen[i].held * sizeof(struct inproc_stamp);
}

/* Claims the slot meanwhile, as a thread would. */
static void give_back_all(struct inproc_drain *d, struct inproc_region *g, uint32_t slot)
{
	struct inproc_slot *s = &g->slots[slot];
	struct inproc_seen *seen = &g->seen[slot];
	uint32_t free = INPROC_FREE;

	if (!has_pages(g) || !atomic_compare_exchange_strong(&s->state, &free, INPROC_TAKEN))
		return;
	if (give_back(g, slot, 0, records_of_ring(g))) {
		seen->emptied = seen->at;
		seen->gives_back = false;
		count(d, g, seen);
	}
	seen->free_since_ns = d->last.ns; /* if it did not, the next try is as far away */
	atomic_store(&s->state, INPROC_FREE);
}

/* A ring that gives back keeps parts of pages. */
static bool may_have_memory(const struct inproc_seen *seen)
{
	return seen->held || seen->gives_back;
}

void ringmemory_check(struct inproc_drain *d, struct inproc_region *g)
{
	for (uint32_t i = 0; i < INPROC_SLOTS && g->slots[i].tid; i++)
		if (g->slots[i].state == INPROC_FREE && may_have_memory(&g->seen[i]) &&
		    d->last.ns - g->seen[i].free_since_ns > FREE_NS)
			give_back_all(d, g, i);
}
