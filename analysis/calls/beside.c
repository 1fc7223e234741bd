/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Applies the records that are neither entries nor exits to the calls that are open. */
#include "analysis/calls/internal.h"
#include "analysis/threads/setclock.h"
#include "trace/record.h"

/* Ends the thread's open calls of one probe set, which need not be the innermost ones. */
static void close_set(struct calls *c, struct thread *t, uint32_t set, uint64_t time_ns)
{
	uint32_t kept = 0;

	thread_settle(t, time_ns);
	for (uint32_t i = t->n_open; i--;) {
		if (c->threads.set_of[t->open[i].id] != set)
			continue;
		if (i + 1 < t->n_open && t->open[i + 1].slot)
			t->open[i].own_unknown = true;
		calls_finish(c, t, i, CALL_OPEN, time_ns);
		if (i && c->threads.set_of[t->open[i - 1].id] != set)
			t->open[i - 1].own_unknown = true;
		t->open[i].slot = 0;
	}
	for (uint32_t i = 0; i < t->n_open; i++)
		if (t->open[i].slot)
			t->open[kept++] = t->open[i];
	t->n_open = kept;
}

void calls_end_set(struct calls *c, const struct record *r)
{
	uint32_t set = map_get(&c->threads.set_index, r->values[0]);

	if (set == MAP_NONE ||
	    (r->kind == REC_SET_ON && !setclock_is_off(&c->threads, set, (uint32_t)r->values[1])))
		return;
	vec_for_each (&c->threads.all, struct thread *, t)
		if ((*t)->n_open && (!r->values[1] || r->values[1] == (*t)->tgid))
			close_set(c, *t, set, r->time_ns);
}

/* The mask comes first; then the values in the order of its bits. */
static void add_args(struct call *call, const struct record *r)
{
	uint32_t mask = (uint32_t)r->values[0] & ((1u << ARG_BITS) - 1), n = 1;

	for (uint32_t bit = 0; bit < ARG_BITS && n < r->n_values; bit++)
		if (mask & 1u << bit) {
			call->args[bit] = r->values[n++];
			call->arg_mask |= 1u << bit;
		}
}

static void note_return(struct thread *t, const struct record *r)
{
	t->returns = r->n_values == 2;
	t->return_value = r->values[1];
}

/* Adds inner calls without records of their own to the innermost open call, whose exit follows. */
static void add_inside(struct thread *t, const struct record *r)
{
	struct call *call = t->n_open ? &t->open[t->n_open - 1] : NULL;

	if (!call)
		return;
	call->inside += (uint32_t)r->values[0];
	call->children++;
	call->children_raw_ns += r->values[1];
	call->children_ns += r->values[1] > r->values[2] ? r->values[1] - r->values[2] : 0;
	call->inside_cost_ns += r->values[2];
	call->between_ns += r->values[3];
}

/* A record beside an entry describes the call that this entry began. */
static void describe_entry(struct thread *t, const struct record *r)
{
	struct call *call = t && t->entered && t->n_open ? &t->open[t->n_open - 1] : NULL;

	if (t && r->kind == REC_ARGS && r->values[0] == 1u << ARG_RETURN)
		note_return(t, r);
	else if (call && r->kind == REC_ARGS)
		add_args(call, r);
	else if (call && r->kind == REC_STACK)
		call->stack = (uint32_t)r->values[0];
	else if (t && r->kind == REC_EXIT_STACK)
		t->exit_stack = (uint32_t)r->values[0];
	else if (t && r->kind == REC_INNER)
		t->inner = true;
}

/*
 * Adds the sleep that ends here to the open calls, and to the sleep of another thread that this
 * call ends.
 */
static void add_waits(const struct calls *c, struct thread *t, const struct record *r)
{
	const struct thread *woken;

	if (!t || !t->n_open)
		return;
	if (r->kind == REC_SWITCH_IN && t->sleep.ended_ns == r->time_ns)
		wait_add_new(&t->open[t->n_open - 1].waits, t, r->time_ns);
	if (r->kind != REC_WAKING)
		return;
	woken = threads_alive(&c->threads, (uint32_t)r->values[0]);
	if (woken && sleep_woken_by(woken, t, r->time_ns))
		wait_add_wake(&t->open[t->n_open - 1].waits, woken);
}

void calls_describe(struct calls *c, struct thread *t, const struct record *r)
{
	if (r->kind == REC_WAKING)
		add_waits(c, threads_alive(&c->threads, r->tid), r);
	else
		add_waits(c, t, r);
	describe_entry(t, r);
	if (t && r->kind == REC_INSIDE)
		add_inside(t, r);
	if (t && r->kind == REC_BRIEF && r->n_values >= BRIEF_FIXED) {
		c->brief += r->values[1];
		t->covered_ns += r->values[8];
	}
}
