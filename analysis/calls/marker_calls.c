/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/calls/internal.h"

#include <string.h>

#include "analysis/threads/setclock.h"
#include "trace/record.h"

/* Subtracts an inner call, which began inside x and continues after it, from the own time of x. */
static void deduct_open(const struct thread *t, struct call *x, const struct call *inner,
			uint64_t time_ns)
{
	struct offcpu off = offcpu_between(&inner->off_at_entry, &t->off);

	if (time_ns > inner->entry_ns) {
		x->children_ns += time_ns - inner->entry_ns;
		x->children_raw_ns += time_ns - inner->entry_ns;
	}
	call_add_child_off(x, &off);
}

/*
 * The calls inside x continue, and will count as callees of x's parent. So only the part of x
 * before them is added to the parent now: together, the parts cover the time from the begin of x to
 * the end of the last inner call once.
 */
static void add_head_to_parent(struct calls *c, struct call *parent, const struct call *x,
			       const struct call *inner)
{
	struct offcpu off = offcpu_between(&x->off_at_entry, &inner->off_at_entry);
	uint64_t ns = inner->entry_ns > x->entry_ns ? inner->entry_ns - x->entry_ns : 0;

	parent->inside += x->inside + 1;
	parent->inside_cost_ns += x->inside_cost_ns;
	parent->between_ns += c->costs[x->id].full_ns;
	parent->children_raw_ns += ns;
	parent->children_ns += ns > x->inside_cost_ns ? ns - x->inside_cost_ns : 0;
	call_add_child_off(parent, &off);
}

static void remove_open(struct thread *t, uint32_t i)
{
	memmove(&t->open[i], &t->open[i + 1], (t->n_open - i - 1) * sizeof(*t->open));
	t->n_open--;
}

/* Ends the i-th open call, wherever it is; calls that began inside of it stay open. */
static void end_call(struct calls *c, struct thread *t, uint32_t i, enum call_end end,
		     uint64_t time_ns)
{
	struct call *parent = i ? &t->open[i - 1] : NULL;

	if (i + 1 == t->n_open) {
		t->n_open--;
		calls_finish(c, t, i, end, time_ns);
		return;
	}
	thread_settle(t, time_ns);
	if (end == CALL_TIMED)
		deduct_open(t, &t->open[i], &t->open[i + 1], time_ns);
	if (!parent) {
		/* The part that the inner call covers is counted when the inner call ends. */
		if (end == CALL_TIMED) {
			struct offcpu twice = offcpu_between(&t->open[i + 1].off_at_entry, &t->off);

			t->covered_ns -= time_ns - t->open[i + 1].entry_ns;
			t->covered_off = offcpu_between(&twice, &t->covered_off);
		}
		calls_finish(c, t, i, end, time_ns);
	} else {
		struct call before = *parent;

		calls_finish(c, t, i, end, time_ns);
		*parent = before;
		if (end == CALL_TIMED)
			add_head_to_parent(c, parent, &t->open[i], &t->open[i + 1]);
		else
			parent->own_unknown = true;
	}
	remove_open(t, i);
}

void calls_drop_gone_around(struct calls *c, struct thread *t, uint64_t sp, uint64_t time_ns)
{
	for (uint32_t i = t->n_open; i--;) {
		uint64_t top = t->open[i].sp;

		if (call_is_marker(c, t->open[i].id))
			continue;
		if (top >= sp && !(t->after_exit && top <= t->exit_sp))
			break;
		end_call(c, t, i, CALL_UNWOUND, time_ns);
	}
}

/* The open function call that an exit belongs to, or MAP_NONE. */
static uint32_t match_around(struct calls *c, struct thread *t, const struct record *r)
{
	for (uint32_t i = t->n_open; i--;) {
		const struct call *call = &t->open[i];

		if (call_is_marker(c, call->id))
			continue;
		if (call->sp > r->sp)
			break;
		if (call->sp == r->sp && call->id == r->id)
			return i;
		if (call->sp < r->sp)
			end_call(c, t, i, CALL_UNWOUND, r->time_ns);
	}
	return MAP_NONE;
}

void calls_leave_around(struct calls *c, struct thread *t, const struct record *r)
{
	uint32_t i = match_around(c, t, r);

	calls_take_exit(t, i == MAP_NONE ? NULL : &t->open[i]);
	t->after_exit = true;
	t->exit_sp = r->sp;
	if (i == MAP_NONE) {
		c->orphan_exits++;
		return;
	}
	for (uint32_t j = t->n_open; --j > i;)
		if (!call_is_marker(c, t->open[j].id))
			end_call(c, t, j, CALL_UNWOUND, r->time_ns);
	end_call(c, t, i, CALL_TIMED, r->time_ns);
}

/* A recursive block begins deeper on the stack. A begin at the same depth, or higher up, means that
 * the earlier one was left without an end. */
void calls_marker_begins(struct calls *c, struct thread *t, const struct record *r)
{
	for (uint32_t i = t->n_open; i--;) {
		if (t->open[i].id != r->id)
			continue;
		if (t->open[i].sp > r->sp)
			break;
		c->marker_faults[r->id].unended++;
		end_call(c, t, i, CALL_UNWOUND, r->time_ns);
	}
}

/*
 * Whether the begin was before the probes or the window, which is so if this is the first record of
 * the marker on a thread that is older. The slot of thread and marker shows whether it is the
 * first.
 */
static bool began_before_probes(struct calls *c, struct thread *t, uint32_t id)
{
	struct threads *th = &c->threads;
	uint64_t on_ns = setclock_first_on_ns(th, th->set_of[id]);
	size_t met = th->slots.n;

	(void)threads_slot(th, t, id);
	return th->slots.n > met && (t->born_ns <= on_ns || t->born_ns <= th->start_ns);
}

void calls_marker_ends(struct calls *c, struct thread *t, const struct record *r)
{
	bool overlaps = false;

	for (uint32_t i = t->n_open; i--;) {
		if (t->open[i].id == r->id) {
			c->marker_faults[r->id].overlaps += overlaps;
			end_call(c, t, i, CALL_TIMED, r->time_ns);
			return;
		}
		overlaps |= call_is_marker(c, t->open[i].id);
	}
	if (began_before_probes(c, t, r->id))
		c->orphan_exits++;
	else
		c->marker_faults[r->id].unbegun++;
}
