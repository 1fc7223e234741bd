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

/* Time off the CPU of a call directly inside. */
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

/* beside.c. A set's probes go off: its open calls end. */
void calls_set_off(struct calls *c, const struct record *r);
/* A record that threads_record() took, about t (NULL: none): what it says of open calls. */
void calls_describe(struct calls *c, struct thread *t, const struct record *r);

/* loss.c. A loss begins; those that are over by time_ns end, and visitors are told. */
void calls_lose(struct calls *c, const struct record *r);
void calls_end_gaps(struct calls *c, uint64_t time_ns, bool is_told);
/* While gaps are open, behind each record about t: can it still be followed? */
void calls_look(struct calls *c, struct thread *t, uint64_t time_ns);
/* A window opens: what was lost before it does not count. */
void calls_restart_losses(struct calls *c);

/*
 * marker_calls.c. A marker's begin and end are not bound to a frame, so its open call may lie
 * anywhere among those of functions: it is ended by its id alone, the latest begin first, and what
 * the stack pointer says about frames leaves it in place.
 */
/* The same as drop_gone() and match() of calls.c, for the open markers of the thread. */
void calls_drop_gone_around(struct calls *c, struct thread *t, uint64_t sp, uint64_t time_ns);
void calls_leave_around(struct calls *c, struct thread *t, const struct record *r);
/* Before a begin is pushed: an earlier one that has no end is given up. */
void calls_marker_begins(struct calls *c, struct thread *t, const struct record *r);
void calls_marker_ends(struct calls *c, struct thread *t, const struct record *r);

#endif
