/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Shared by calls.c (functions), beside.c, loss.c and marker_calls.c (markers), and by nobody else.
 */
#ifndef ISPOT_ANALYSIS_CALLS_INTERNAL_H
#define ISPOT_ANALYSIS_CALLS_INTERNAL_H

#include "analysis/calls/calls.h"
#include "base/likely.h"

static inline bool call_is_marker(const struct calls *c, uint32_t id)
{
	return c->traced[id] >= TRACED_MARKER;
}

/* Adds the time off the CPU of a direct callee. */
static inline void call_add_child_off(struct call *call, const struct offcpu *off)
{
	if (!call->children_off_any)
		call->children_off = (struct offcpu){ 0 };
	call->children_off_any = true;
	offcpu_add(&call->children_off, off);
}

/*
 * Records just before the exit of an open call belong to that call: return value, stack. NULL:
 * there is no call.
 */
static inline void calls_take_exit(struct thread *t, struct call *call)
{
	if (likely(call)) {
		call->exit_stack = t->exit_stack;
		if (unlikely(t->returns)) {
			call->args[ARG_RETURN] = t->return_value;
			call->arg_mask |= 1u << ARG_RETURN;
		}
	}
	t->returns = false;
	t->exit_stack = 0;
}

/* Ends the i-th open call, which is the innermost or taken out by the caller. */
void calls_finish(struct calls *c, struct thread *t, uint32_t i, enum call_end end,
		  uint64_t time_ns);

/* Ends all open calls of the thread. */
void calls_drop_all(struct calls *c, struct thread *t, enum call_end end, uint64_t time_ns);

/* beside.c: ends the open calls of a probe set that is switched off. When it is switched on again,
 * it ends those that were entered while its probes went out one by one: they have no exits. */
void calls_end_set(struct calls *c, const struct record *r);
/* Applies a record that threads_record() has processed to the open calls of t (NULL: no thread). */
void calls_describe(struct calls *c, struct thread *t, const struct record *r);

/* loss.c: begins a loss; ends losses that are over at time_ns, and notifies visitors if is_told. */
void calls_lose(struct calls *c, const struct record *r);
void calls_end_gaps(struct calls *c, uint64_t time_ns, bool is_told);
/* At a REC_SWITCHES_OFF (analysis/threads/unwatched.h), before the threads get it: ends all open
 * calls (calls.c). */
void calls_switches_off(struct calls *c, uint64_t time_ns);
/* After it: has the visitors forget the calls and waits that threads are in. */
void calls_forget_threads(struct calls *c);
/* After a REC_SWITCHES_ON: hides the threads that a loss still conceals. */
void calls_switches_on(struct calls *c, uint64_t time_ns);
/* Called after each record about t during a loss: checks whether t can still be followed. */
void calls_check_sight(struct calls *c, struct thread *t, uint64_t time_ns);
/* Begins a window: records that were dropped before it do not count. */
void calls_restart_losses(struct calls *c);

/*
 * marker_calls.c: a marker's begin and end are not bound to a frame, so its open call may be
 * anywhere among those of functions. It is ended by its id alone, the latest begin first, and stack
 * pointers, which end calls of functions, do not affect it.
 */
/* Same as drop_gone() and end_innermost() of calls.c, for threads with open markers. */
void calls_drop_gone_around(struct calls *c, struct thread *t, uint64_t sp, uint64_t time_ns);
void calls_leave_around(struct calls *c, struct thread *t, const struct record *r);
/* Called before a marker's begin is pushed: ends an earlier begin that was left without an end. */
void calls_marker_begins(struct calls *c, struct thread *t, const struct record *r);
void calls_marker_ends(struct calls *c, struct thread *t, const struct record *r);

#endif
