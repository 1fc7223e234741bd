/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A session: one ispot among others that have events in the same tracefs. It has a lock, a gate,
 * and sweeps what killed sessions left.
 *
 * The gate. The kernel refuses to register a probe beyond the end of its file (-EINVAL), and it
 * registers an event's points in the order in which they were written, only for the first opener.
 * Therefore the first point of every event lies in the session's own lock file, which is empty
 * except while this module opens the event. So no other process, neither perf nor ftrace, can be
 * the first to open an event that is still being written or is about to be deleted. And trying to
 * open a shut event tells whether somebody has it open: -EINVAL means nobody, success or -EINTR
 * (ftrace) means somebody. The attempt costs nothing and sets no breakpoint, unlike writing 1 to
 * the event's enable file, which puts all points into every process of the machine.
 */
#ifndef ISPOT_PROBES_KERNEL_DYNEVENT_INTERNAL_H
#define ISPOT_PROBES_KERNEL_DYNEVENT_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"

struct dynevent;
struct err;

struct dynevent_session {
	char name[24];	    /* random, hexadecimal */
	char group[32];	    /* ispot_<name> */
	char gate[64];	    /* path of the lock file, which is the gate */
	int lock_fd;	    /* holds the flock: the session is alive */
	int control_fd;	    /* uprobe_events, opened for appending */
	uint32_t n_numbers; /* event numbers used so far */
	bool left_behind;   /* an event is in use elsewhere: the lock file stays for a sweep */
	struct {
		VEC(struct dynevent *)
	} events;
};

#define DYNEVENT_GATE_OFFSET 64 /* aligned on any machine, and beyond the end of an empty file */
/*
 * Number of attempts: a child between fork and exec, or a killed session that is still closing its
 * events, needs a moment.
 */
#define DYNEVENT_PATIENCE 10

#define DYNEVENT_GATE_ID UINT32_MAX

void dynevent_gate_shut(int lock_fd);
int dynevent_gate_open(int lock_fd); /* 0 or -errno (ENOSPC) */

/* Returns a descriptor or -errno. Raises the limit of descriptors when it is reached. */
int dynevent_perf_open(int perf_id, pid_t pid, int inherit, int disabled);
/*
 * Deletes an event of ours, whose gate must be shut and whose descriptors in this process must be
 * closed. -EBUSY: after `tries` attempts 10 ms apart, another process still has the event open; the
 * event is left alone.
 */
int dynevent_erase(const char *group, const char *event, int tries);

/*
 * Finds tracefs (mounts it at /sys/kernel/tracing if it is not mounted), takes the session's lock,
 * and sweeps dead sessions. -EACCES: not root; -ENOENT: the kernel has no tracefs; -EROFS …
 */
int dynevent_session_open(struct dynevent_session **s, struct err *err);
void dynevent_session_close(
	struct dynevent_session *s); /* deletes the remaining events; NULL is fine */

#endif
