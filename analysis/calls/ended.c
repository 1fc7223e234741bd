/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "analysis/calls/ended.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/calls/internal.h"
#include "analysis/threads/setclock.h"
#include "analysis/threads/wait.h"
#include "trace/meta/meta.h"

static uint64_t since(uint64_t from_ns, uint64_t to_ns)
{
	return to_ns > from_ns ? to_ns - from_ns : 0;
}

/* Returns how long a thread could have been observed at most by now. */
static uint64_t observable_ns(struct threads *th, uint32_t tgid, uint64_t time_ns)
{
	uint64_t most = th->n_sets ? 0 : since(th->start_ns, time_ns), ns;

	for (uint32_t set = 0; set < th->n_sets; set++) {
		ns = setclock_read(th, set, tgid, time_ns);
		most = ns > most ? ns : most;
	}
	return most;
}

static bool is_brief(struct threads *th, const struct thread *t, uint64_t time_ns)
{
	uint64_t part_ns = since(th->part_ns, time_ns);
	uint64_t in_part_ns = since(t->born_ns > th->part_ns ? t->born_ns : th->part_ns, t->end_ns);

	return (double)thread_watched_ns(th, t) <
		       ENDED_SHARE * (double)observable_ns(th, t->tgid, time_ns) &&
	       (!th->part_ns || (double)in_part_ns < ENDED_SHARE * (double)part_ns);
}

/* Chooses the ended threads that are summed up, oldest first; the others stay in th->ended. */
static size_t choose(struct threads *th, uint64_t time_ns, struct thread **chosen)
{
	size_t n = 0, kept = 0, old = th->ended.n - ENDED_KEPT;

	for (size_t i = 0; i < th->ended.n; i++) {
		struct thread *t = th->ended.data[i];

		if (i < old && is_brief(th, t, time_ns))
			chosen[n++] = t;
		else
			th->ended.data[kept++] = t;
	}
	th->ended.n = kept;
	return n;
}

static uint64_t scaled(uint64_t ns, double part)
{
	return (uint64_t)((double)ns * part);
}

/* Adds the part of the time off the CPU in which the thread was observed, as result_off_ns()
 * does. */
static void add_off(struct offcpu *sum, const struct offcpu *off, double part)
{
	const struct offcpu observed = {
		.preempted_ns = scaled(off->preempted_ns, part),
		.blocked_ns = scaled(off->blocked_ns, part),
		.idle_ns = scaled(off->idle_ns, part),
		.recorder_ns = scaled(off->recorder_ns, part),
		.oversubscribed_ns = scaled(off->oversubscribed_ns, part),
		.yielded_ns = scaled(off->yielded_ns, part),
		.woken_ns = scaled(off->woken_ns, part),
		.sleeps = off->sleeps,
		.wakes = off->wakes,
	};

	offcpu_add(sum, &observed);
}

static void add_times(const struct threads *th, struct thread *into, const struct thread *t)
{
	uint64_t alive_ns = since(t->born_ns + t->lost_ns, t->end_ns);
	uint64_t watched_ns = thread_watched_ns(th, t);

	add_off(&into->off, &t->off, alive_ns ? (double)watched_ns / (double)alive_ns : 0);
	offcpu_add(&into->covered_off, &t->covered_off);
	into->covered_ns += t->covered_ns;
	into->end_ns += watched_ns;
	for (uint32_t set = 0; set < th->n_sets; set++)
		into->watch_ns[set] += watched_ns;
}

void threads_vacate(struct threads *th, struct thread *t)
{
	const struct thread was = *t;

	if (map_get(&th->by_tid, was.tid) == was.index)
		map_remove(&th->by_tid, was.tid);
	free(t->open);
	vec_release(&t->history);
	*t = (struct thread){
		.index = was.index,
		.watch_ns = was.watch_ns,
		.slots = was.slots,
		.all = th,
		.parent = SLEEP_NOBODY,
		.dead = true,
		.vacant = true,
	};
	memset(t->watch_ns, 0, (th->n_sets + 1) * sizeof(*t->watch_ns));
	*vec_add(&th->vacant) = t;
	th->n_rest++;
}

uint64_t threads_count(const struct threads *th)
{
	return th->all.n - th->vacant.n - (th->rest != NULL) + th->n_rest;
}

static void notify(const struct calls *c, const struct ended_threads *e)
{
	for (unsigned i = 0; i < c->n_visitors; i++)
		if (c->visitors[i].sum_up)
			c->visitors[i].sum_up(c->visitors[i].self, e);
}

static void sum_up(struct calls *c, struct thread **chosen, size_t n, uint64_t time_ns)
{
	struct threads *th = &c->threads;
	bool *is_one;
	struct ended_threads e = { chosen, n, NULL, threads_rest(th), time_ns };

	is_one = xcalloc(th->all.n, sizeof(*is_one));
	for (size_t i = 0; i < n; i++) {
		is_one[chosen[i]->index] = true;
		/* a thread whose tid was reused ended without a record */
		calls_drop_all(c, chosen[i], CALL_OPEN, chosen[i]->end_ns);
		add_times(th, e.into, chosen[i]);
	}
	e.is_one = is_one;
	notify(c, &e);
	handouts_rename(&th->handouts, is_one, e.into->index);
	for (size_t i = 0; i < n; i++)
		threads_vacate(th, chosen[i]);
	free(is_one);
}

void ended_sum_up(struct calls *c, uint64_t time_ns)
{
	struct threads *th = &c->threads;
	struct thread **chosen;
	size_t n;

	if (th->ended.n < 2 * ENDED_KEPT || th->ended.n < th->ended_full)
		return;
	chosen = xcalloc(th->ended.n, sizeof(*chosen));
	n = choose(th, time_ns, chosen);
	if (n)
		sum_up(c, chosen, n, time_ns);
	th->ended_full = 2 * th->ended.n; /* the limit doubles, so that the cost per ended thread
					   * is constant */
	free(chosen);
}

/* Merges wakers that are the same thread and function after the renaming. */
static void merge_namesakes(struct wait_waker *wakers, uint32_t thread)
{
	for (unsigned i = 0; i < WAIT_WAKERS_MAX; i++)
		for (unsigned k = i + 1; k < WAIT_WAKERS_MAX && wakers[i].thread == thread; k++) {
			if (wakers[k].thread != thread || wakers[k].function != wakers[i].function)
				continue;
			wakers[i].sleeps += wakers[k].sleeps;
			wakers[i].ns += wakers[k].ns;
			wakers[k] = (struct wait_waker){ .thread = SLEEP_NOBODY };
		}
}

void ended_rename_wakers(const struct ended_threads *e, struct wait_sums *sums)
{
	vec_for_each (sums, struct wait_cell, c) {
		for (unsigned i = 0; i < WAIT_WAKERS_MAX; i++)
			if (c->wakers[i].sleeps && c->wakers[i].thread != SLEEP_NOBODY &&
			    e->is_one[c->wakers[i].thread])
				c->wakers[i].thread = e->into->index;
		merge_namesakes(c->wakers, e->into->index);
	}
}
