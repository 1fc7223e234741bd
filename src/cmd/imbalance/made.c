/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/imbalance/made.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "probes/edges/edges.h"

struct search {
	struct made *made;
	const struct edges *edges;
	struct map made_of; /* process, number of the maker, number of the made thread -> log */
	const struct edges_log **by_name; /* in the order of process, thread and begin */
};

static int order(uint64_t x, uint64_t y)
{
	return (x > y) - (x < y);
}

/* ---- which thread is meant ---- */

static uint64_t key_of(uint32_t process, uint32_t maker, uint32_t made)
{
	return hash_u64(hash_u64((uint64_t)process << 32 | maker) ^ made);
}

static int by_thread(const void *a, const void *b)
{
	const struct edges_log *x = *(struct edges_log *const *)a;
	const struct edges_log *y = *(struct edges_log *const *)b;

	if (x->process != y->process)
		return order(x->process, y->process);
	if (x->header->thread != y->header->thread)
		return order(x->header->thread, y->header->thread);
	return order(x->header->begin_ns, y->header->begin_ns);
}

static void find_logs(struct search *s)
{
	const struct edges *e = s->edges;

	s->by_name = xcalloc(e->logs.n + 1, sizeof(*s->by_name));
	for (uint32_t i = 0; i < e->logs.n; i++) {
		const struct edges_log *log = &e->logs.data[i];

		s->by_name[i] = log;
		if (log->header->maker != EDGES_NOBODY)
			map_put(&s->made_of,
				key_of(log->process, log->header->maker, log->header->made), i);
	}
	qsort(s->by_name, e->logs.n, sizeof(*s->by_name), by_thread);
}

/* Returns the log of the thread whose end was waited for: the latest one of that name that began
 * before. MAP_NONE: that thread was not counted. */
static uint32_t who_ended(const struct search *s, const struct edges_event *wait)
{
	const struct edges_log *by = &s->edges->logs.data[wait->log];
	struct edges_header header = { .thread = wait->thread, .begin_ns = wait->time_ns };
	struct edges_log wanted = { .process = by->process, .header = &header };
	const struct edges_log *key = &wanted, *found;
	size_t low = vec_search(i, 0, s->edges->logs.n, by_thread(&s->by_name[i], &key) <= 0);

	found = low ? s->by_name[low - 1] : NULL;
	if (!found || found->process != by->process || found->header->thread != wait->thread)
		return MAP_NONE;
	return (uint32_t)(found - s->edges->logs.data);
}

/* ---- in the order of time ---- */

static int by_time(const void *a, const void *b)
{
	const struct edges_event *x = *(struct edges_event *const *)a;
	const struct edges_event *y = *(struct edges_event *const *)b;

	return x->time_ns == y->time_ns ? (x > y) - (x < y) : order(x->time_ns, y->time_ns);
}

static void add_event(struct search *s, const struct edges_event *event)
{
	const struct edges_log *by = &s->edges->logs.data[event->log];
	struct broods *broods = &s->made->broods;
	struct made_thread *thread;
	uint32_t log, brood, order;

	if (!event->is_wait) {
		brood = broods_made(broods, event->log, &order);
		log = map_get(&s->made_of, key_of(by->process, by->header->number, event->made));
		if (log != MAP_NONE)
			s->made->threads[log] = (struct made_thread){ brood, order, false };
		return;
	}
	log = who_ended(s, event);
	if (log == MAP_NONE)
		return;
	thread = &s->made->threads[log];
	thread->awaited = true;
	if (thread->brood != BROOD_NONE)
		broods_awaited(broods, broods->all.data[thread->brood].maker, event->site);
}

void made_find(struct made *m, const struct edges *e)
{
	const struct edges_event **events = xcalloc(e->events.n + 1, sizeof(*events));
	struct search s = { .made = m, .edges = e };

	*m = (struct made){ .threads = xcalloc(e->logs.n + 1, sizeof(*m->threads)) };
	for (size_t i = 0; i < e->logs.n; i++)
		m->threads[i].brood = BROOD_NONE;
	find_logs(&s);
	for (size_t i = 0; i < e->events.n; i++)
		events[i] = &e->events.data[i];
	qsort(events, e->events.n, sizeof(*events), by_time);
	for (size_t i = 0; i < e->events.n; i++)
		add_event(&s, events[i]);
	map_release(&s.made_of);
	free(s.by_name);
	free(events);
}

void made_release(struct made *m)
{
	broods_release(&m->broods);
	free(m->threads);
}
