/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Held processes: those with events that are not inherited, one for each dynamic event on each of
 * two threads. All processes are held if children are not followed by inheritance (follow.c), and
 * on some kernels also if they are.
 *
 * Before 6.13 the kernel may swap the inherited events of two processes when it switches from one
 * to the other, if both come from the same fork or one from the other. When one of the two ends, it
 * then takes away the breakpoints of the other, because its events have the wrong process as
 * target. Later kernels do not swap events that are read in samples (dynevent_session.c).
 *
 * An event that is not inherited stays with its process, and the kernel never swaps the events of a
 * process that has one. So each process of the target gets one for each dynamic event, its
 * descendants as soon as ispot hears of them. Until then, only the events of processes that a new
 * process has itself forked can be swapped.
 */
#ifndef ISPOT_PROBES_SESSION_HOLD_H
#define ISPOT_PROBES_SESSION_HOLD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/hash.h"
#include "base/vec.h"
#include "probes/process/target.h"

struct err;
struct follow;
struct probeset;
struct recording;

/* The threads by which a process is held. */
struct holding {
	pid_t tids[TARGET_QUIET];
	uint32_t n;
};

struct holds {
	/* parts that it asks */
	struct follow *follow;
	struct map held; /* pid -> index of all */
	struct {
		VEC(struct holding)
	} all;
	struct map watched; /* the threads by which processes are held */
	uint32_t n;
	uint64_t n_twins; /* processes forked by one that was not held yet */
};

/* Returns whether the kernel may swap the inherited events of two processes. */
bool session_events_are_swapped(const struct recording *r);
/* Holds the process in the set, if processes are held at all. */
int session_hold(struct holds *holds, struct recording *r, struct probeset *set, pid_t pid,
		 struct err *err);
/* Holds the new processes of the last drain. Called before stacks_add(), which empties the
 * list of forks. */
int session_hold_new(struct holds *holds, struct recording *r, struct err *err);
/* Writes a notice on calls that may be missing. */
void session_hold_end(const struct holds *holds, struct recording *r);
void session_holds_release(struct holds *holds);

#endif
