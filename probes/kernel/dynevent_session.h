/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One ispot among others that have events in the same tracefs: its lock, its gate, and the sweep of
 * what a killed one left.
 *
 * The gate. The kernel refuses to register a probe beyond the end of its file (-EINVAL), and it
 * registers an event's points in the order they were written, only for the first opener. The first
 * point of every event therefore lies in the session's own lock file, which is empty except
 * while this module opens the event. So nobody else, neither perf nor ftrace, can be first to open
 * an event that is still being written or is about to be deleted; and a trial open of a shut
 * event tells whether somebody has it open: -EINVAL nobody, success or -EINTR (ftrace) somebody.
 * The trial costs nothing and plants no breakpoint, unlike writing 1 to the event's enable file,
 * which puts all points into every process of the machine.
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
	char gate[64];	    /* path of the lock file */
	int lock_fd;	    /* flock held: the session is alive */
	int control_fd;	    /* uprobe_events, for appending */
	uint32_t n_numbers; /* given out so far */
	bool left_behind; /* an event in use by somebody else: the lock file stays for a later sweep
			   */
	struct {
		VEC(struct dynevent *)
	} events;
};

#define DYNEVENT_GATE_OFFSET 64 /* aligned for any machine; beyond the end of an empty file */
/* A child between fork and exec, or a killed session still closing its events, needs a moment. */
#define DYNEVENT_PATIENCE 10

#define DYNEVENT_GATE_ID UINT32_MAX

void dynevent_gate_shut(int lock_fd);
int dynevent_gate_open(int lock_fd); /* 0 or -errno (ENOSPC) */

/* Descriptor or -errno; raises the descriptor limit when it is reached. */
int dynevent_perf_open(int perf_id, pid_t pid, int inherit, int disabled);
/*
 * Deletes an event of ours whose gate is shut and whose descriptors here are closed.
 * -EBUSY: somebody else has it open after `tries` looks 10 ms apart, it was left alone.
 */
int dynevent_erase(const char *group, const char *event, int tries);

/* Finds tracefs (mounts it at /sys/kernel/tracing if it is nowhere), takes the session's lock,
 * sweeps dead sessions. -EACCES: not root; -ENOENT: no tracefs in this kernel; -EROFS … */
int dynevent_session_open(struct dynevent_session **s, struct err *err);
void dynevent_session_close(
	struct dynevent_session *s); /* deletes what is left, idempotent on NULL */

#endif
