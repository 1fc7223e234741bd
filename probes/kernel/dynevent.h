/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tracefs dynamic events of this session. This module alone owns the law of their lifecycle
 * (design fact 5):
 *
 *     write all points -> open -> close every descriptor -> delete
 *
 * Appending a point to an open event, or deleting a multi-point event while anyone has it open, can
 * crash kernels. This module makes both impossible: an event is built while closed, sealed by its
 * first open, and deleted only when it has no descriptor left. Events are named
 * ispot_<session>/<class><number>. A lock file held with flock marks the session as alive, so that
 * the next start can sweep what a killed session left, and nothing else. No other process can be
 * the first to open an event of ours (the gate, dynevent_session.h). An event that somebody else
 * opened and still holds is left in place, which is reported, and a later session sweeps it.
 *
 * Events have classes, because all points of an event must have one type (p or r) and the same
 * arguments. There are few of them, because closing an event takes the kernel 0.1 s, one event of
 * the machine after the other.
 */
#ifndef ISPOT_PROBES_KERNEL_DYNEVENT_H
#define ISPOT_PROBES_KERNEL_DYNEVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct err;
struct dynevent;
struct dynevent_session;

enum point_class {
	/*
	 * Points at instructions, whose kinds their tags tell apart. Exits have an event of their
	 * own, because the kernel puts the points of an event into a process in the order in which
	 * it takes them out, and entries must be the last and the first.
	 */
	POINT_CODE = 'p',
	POINT_EXIT = 'x',
	POINT_RETURN = 'r',
	POINT_COUNT = 'c',
};

/*
 * Returns a number that was never used before: otherwise points could be appended to an event that
 * is still closing.
 */
uint32_t dynevent_next_number(struct dynevent_session *s);
struct dynevent *dynevent_new(struct dynevent_session *s, enum point_class class, uint32_t number);
/*
 * Adds a point. path must open the file from here; tag comes back as the immediate of the event's
 * `id` argument.
 */
void dynevent_add(struct dynevent *ev, const char *path, uint64_t file_offset, uint64_t tag);
/*
 * The same with a counter at counter_offset of the file, which the kernel raises while the point is
 * in a process; 0: none.
 */
void dynevent_add_counted(struct dynevent *ev, const char *path, uint64_t file_offset,
			  uint64_t counter_offset, uint64_t tag);
size_t dynevent_n(const struct dynevent *ev);
/*
 * Writes all points. From then on, dynevent_n() counts the accepted points, and none can be added.
 * A point that the kernel refuses is left out and reported to refused() (which may be NULL), with
 * the lower half of its tag. What the kernel's instruction decoder refuses is found only by
 * dynevent_open(), and only on a process that has the file mapped.
 */
int dynevent_create(struct dynevent *ev, void (*refused)(void *ctx, uint32_t id, int errnum),
		    void *ctx, struct err *err);
/*
 * Opens a perf event; pid and inherit are those of perf_event_open(). Returns the descriptor, which
 * ev owns, or -errno. -ENOEXEC or -524: the instruction at one of the points cannot be probed, so
 * none of the points is. A mmap of the descriptor must be gone before dynevent_delete(). The limit
 * of descriptors is raised only when it is reached, as a command that is started later would
 * inherit it.
 */
int dynevent_open(struct dynevent *ev, pid_t pid, int inherit, int disabled, struct err *err);
/*
 * Opens a perf event on a process that children do not inherit. The process then stays in the
 * event's filter, and the kernel does not take its context and a child's for equal ones that it may
 * swap. Returns 0 or -errno, as dynevent_open().
 */
int dynevent_hold(struct dynevent *ev, pid_t pid, struct err *err);
/* Closes the descriptors of dynevent_hold() for processes that are gone. */
void dynevent_unhold_ended(struct dynevent *ev);
/* Closes all descriptors of dynevent_hold(). */
void dynevent_unhold(struct dynevent *ev);
/* Closes every descriptor but the first and those of dynevent_hold(). */
void dynevent_unfollow(struct dynevent *ev);
/*
 * Closes every descriptor but the first. When it returns, no process that was opened after the
 * first one has breakpoints any more. The kernel takes 0.1 s to close the first one if a program is
 * attached, and its breakpoints stay until then, so the first one is opened on a process that
 * waits.
 */
void dynevent_close_carriers(struct dynevent *ev);
/* Lets a thread close the remaining descriptors; dynevent_delete() waits for the thread. */
void dynevent_close_beside(struct dynevent *ev);
/* Whether that thread is done, or was never started. */
bool dynevent_is_closed(struct dynevent *ev);
/* Closes every descriptor, then deletes the event; NULL is fine. */
void dynevent_delete(struct dynevent *ev);

#endif
