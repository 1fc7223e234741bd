/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "analysis/calls/internal.h"
#include "trace/record.h"

/* Whether the thread runs on another CPU, where its switch-out would have a record. */
static bool is_elsewhere(const struct calls *c, const struct thread *t, uint32_t cpu)
{
	return c->threads.have_switch && t->state == THREAD_RUNNING && t->cpu != cpu;
}

static bool is_hidden_by(const struct calls *c, const struct thread *t, const struct call_gap *g)
{
	return g->of_thread ? g->tid == t->tid : !is_elsewhere(c, t, g->cpu);
}

static bool is_in_sight(const struct calls *c, const struct thread *t)
{
	vec_for_each (&c->gaps, const struct call_gap, g)
		if (is_hidden_by(c, t, g))
			return false;
	return true;
}

static void forget(struct calls *c, struct thread *t)
{
	t->after_exit = t->returns = t->inner = false;
	t->exit_stack = 0;
	for (unsigned i = 0; i < c->n_visitors; i++)
		if (c->visitors[i].unseen)
			c->visitors[i].unseen(c->visitors[i].self, t);
}

static void lose_sight(struct calls *c, struct thread *t, uint64_t since_ns)
{
	/* while switches have no records, no thread is in sight anyway */
	if (t->dead || t->unseen_ns || c->threads.unwatched.now)
		return;
	thread_unseen(t, since_ns);
	calls_drop_all(c, t, CALL_LOST, since_ns);
	forget(c, t);
}

/*
 * The same of a thread whose calls alone are missing. The recorder knows that only when the thread
 * records again, or not at all: until then its switches were counted, which are not observed,
 * either. The loss begins at the thread's latest call.
 */
static void lose_sight_of(struct calls *c, struct thread *t, uint64_t since_ns)
{
	if (!t->dead && !t->unseen_ns && !c->threads.unwatched.now && t->has_called &&
	    t->off_changes != t->changes_at_call) {
		t->off = t->off_at_call;
		t->off_changes++;
		t->since_ns = since_ns;
		t->state = THREAD_RUNNING;
	}
	lose_sight(c, t, since_ns);
}

void calls_forget_threads(struct calls *c)
{
	vec_for_each (&c->threads.all, struct thread *, t)
		if (!(*t)->dead)
			forget(c, *t);
}

void calls_switches_on(struct calls *c, uint64_t time_ns)
{
	vec_for_each (&c->threads.all, struct thread *, t)
		if (!(*t)->dead)
			calls_check_sight(c, *t, time_ns);
}

void calls_check_sight(struct calls *c, struct thread *t, uint64_t time_ns)
{
	if (!is_in_sight(c, t))
		lose_sight(c, t, time_ns);
}

/* Returns the gap of the record's CPU or thread, which is added if there is none. */
static struct call_gap *gap_of(struct calls *c, const struct record *r, uint64_t since_ns)
{
	bool of_thread = r->values[2];

	vec_for_each (&c->gaps, struct call_gap, g)
		if (g->of_thread == of_thread && (of_thread ? g->tid == r->tid : g->cpu == r->cpu))
			return g;
	*vec_add(&c->gaps) = (struct call_gap){
		.cpu = r->cpu,
		.of_thread = of_thread,
		.tid = r->tid,
		.loss = { .number = ++c->losses, .since_ns = since_ns },
	};
	return vec_last(&c->gaps);
}

static void set_next_end(struct calls *c)
{
	c->gap_ends_ns = UINT64_MAX;
	vec_for_each (&c->gaps, const struct call_gap, g)
		if (g->loss.until_ns < c->gap_ends_ns)
			c->gap_ends_ns = g->loss.until_ns;
}

void calls_lose(struct calls *c, const struct record *r)
{
	uint64_t since_ns = record_due_ns(r);
	struct call_gap *g = gap_of(c, r, since_ns);

	c->lost_records += r->values[0];
	c->uncounted_losses += !r->values[0];
	g->loss.count += r->values[0];
	if (g->loss.until_ns < r->time_ns)
		g->loss.until_ns = r->time_ns;
	set_next_end(c);
	if (g->of_thread) {
		struct thread *t = threads_alive(&c->threads, r->tid);

		if (t)
			lose_sight_of(c, t, since_ns);
		return;
	}
	vec_for_each (&c->threads.all, struct thread *, t)
		if (!is_in_sight(c, *t))
			lose_sight(c, *t, since_ns);
}

static bool was_hidden_by(const struct thread *t, const struct call_gap *g)
{
	if (g->of_thread)
		return g->tid == t->tid && (!t->dead || t->end_ns >= g->loss.since_ns);
	return t->unseen_ns || t->lost_until_ns > g->loss.since_ns;
}

static void notify(struct calls *c, const struct call_gap *g)
{
	vec_for_each (&c->threads.all, struct thread *, it) {
		const struct thread *t = *it;
		bool in_it = was_hidden_by(t, g);

		for (unsigned i = 0; in_it && i < c->n_visitors; i++)
			if (c->visitors[i].lost)
				c->visitors[i].lost(c->visitors[i].self, t, &g->loss);
	}
}

void calls_end_gaps(struct calls *c, uint64_t time_ns, bool is_told)
{
	size_t kept = 0;

	for (size_t i = 0; i < c->gaps.n; i++) {
		const struct call_gap *g = &c->gaps.data[i];

		if (g->loss.until_ns > time_ns)
			c->gaps.data[kept++] = *g;
		else if (is_told)
			notify(c, g);
	}
	c->gaps.n = kept;
	set_next_end(c);
}

void calls_restart_losses(struct calls *c)
{
	c->lost_records = c->uncounted_losses = 0;
	vec_for_each (&c->gaps, const struct call_gap, g) {
		c->lost_records += g->loss.count;
		c->uncounted_losses += !g->loss.count;
	}
}
