/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tracefs dynamic events of this session: the one owner of the lifecycle law (design fact 5)
 *
 *	write all points -> open -> close every descriptor -> delete
 *
 * A point appended to an open event, or a multi-point event deleted while anyone has it open,
 * can crash kernels; this module makes both unrepresentable: an event is built closed, sealed by
 * its first open, and deleted only when its count of descriptors is back at zero. Events are named
 * ispot_<session>/<class><number>; a lock file held with flock marks the session alive, so that
 * the next start can sweep what a killed session left, and nothing else. Nobody else can be first
 * to open an event of ours (the gate, dynevent_session.h); an event that somebody opened beside
 * us and still holds is left in place, said, and swept by a later session.
 *
 * Event classes: points of one event must have one type (p or r) and the same arguments.
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
	POINT_ENTRY = 'e',
	POINT_RETURN = 'r',
	POINT_EXIT = 'x',
	POINT_COUNT = 'c',
	POINT_BEGIN = 'b',
	POINT_END = 'd',
};

/* Never the same again: points would be appended to an event that is still closing. */
uint32_t dynevent_next_number(struct dynevent_session *s);
struct dynevent *dynevent_new(struct dynevent_session *s, enum point_class class, uint32_t number);
/* path must open the file from here; id comes back as the event's `id` argument. */
void dynevent_add(struct dynevent *ev, const char *path, uint64_t file_offset, uint32_t id);
/* counter_offset: where in the file a counter lies that the kernel raises while the point is in a
 * process; 0: none. */
void dynevent_add_counted(struct dynevent *ev, const char *path, uint64_t file_offset,
			  uint64_t counter_offset, uint32_t id);
size_t dynevent_n(const struct dynevent *ev);
/*
 * Writes all points; from here on dynevent_n counts those accepted, and nothing can be added. A
 * point that the kernel refuses is left out and reported through refused() (may be NULL). What the
 * instruction decoder refuses comes to light only in dynevent_open, and only on a process that
 * has the file mapped.
 */
int dynevent_create(struct dynevent *ev, void (*refused)(void *ctx, uint32_t id, int errnum),
		    void *ctx, struct err *err);
/*
 * A perf event on it: pid, inherit as in perf_event_open; returns the descriptor (kept and closed
 * by ev) or -errno. -ENOEXEC or -524: an instruction under one of the points cannot be probed, so
 * none is. A mmap of the descriptor must be gone before dynevent_delete. The limit of descriptors
 * is raised when it is reached, not before: a command started later would inherit it.
 */
int dynevent_open(struct dynevent *ev, pid_t pid, int inherit, int disabled, struct err *err);
/*
 * A perf event on a process that is not inherited: it stays in the event's filter, and the context
 * of no child is taken for the twin of another. 0 or -errno as dynevent_open().
 */
int dynevent_hold(struct dynevent *ev, pid_t pid, struct err *err);
/* Closes those of processes that are gone. */
void dynevent_let_go(struct dynevent *ev);
/* Closes all of them. */
void dynevent_unhold(struct dynevent *ev);
/* Closes every descriptor but the first and these. */
void dynevent_unfollow(struct dynevent *ev);
/*
 * Closes every descriptor but the first: no process that was opened after it has breakpoints any
 * more when this returns. The first one, if a program is attached to it, takes the kernel 0.1 s
 * to close, and breakpoints stay until the end of that: so it is opened on a process that waits.
 */
void dynevent_close_carriers(struct dynevent *ev);
/* Closes what is left beside the caller (a thread); dynevent_delete() waits for that. */
void dynevent_close_beside(struct dynevent *ev);
/* Whether closing is over, or was never asked for. */
bool dynevent_is_closed(struct dynevent *ev);
/* Closes every descriptor, then deletes the event; NULL is fine. */
void dynevent_delete(struct dynevent *ev);

#endif
