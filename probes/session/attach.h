/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Puts probes onto processes, and takes them off. */
#ifndef ISPOT_PROBES_SESSION_ATTACH_H
#define ISPOT_PROBES_SESSION_ATTACH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"

struct err;
struct follow;
struct holds;
struct probeset;
struct recording;

struct attach {
	/* parts that it asks */
	struct follow *follow;
	struct holds *holds;
	pid_t waiter; /* the events of the BPF programs are opened on this process */
	/* Sets that were removed from the targets and are still open. */
	struct {
		VEC(struct probeset)
	} retired;
	bool closing;	   /* the first of them is being closed */
	uint64_t since_ns; /* when the last one was removed */
};

void session_attach_init(struct attach *a);
void session_attach_release(struct attach *a);

/* Opens the set on a process, or on all targets. Children get its probes, too, by inheritance
 * (follow.c) or one by one (hold.c). */
int session_open_on_process(struct attach *a, struct recording *r, struct probeset *set, pid_t pid,
			    struct err *err);
int session_open_on_targets(struct attach *a, struct recording *r, struct probeset *set,
			    struct err *err);
/*
 * Retires the set that a hybrid's start was calibrated by. Its end comes before that of the
 * recording, so that nobody waits for it.
 */
void session_retire_calibration(struct attach *a, struct recording *r);
/* Removes the set's probes from the targets now. */
void session_retire_set(struct attach *a, struct probeset *set);
/*
 * Closes a retired set. The kernel takes 0.1 s to close an event with a program, under a lock that
 * inserting and removing probes needs, too. So sets are closed one at a time, while no others
 * change, and where closing may take long, only if there are many. counting: a set that counts is
 * about to be removed.
 */
void session_close_retired(struct attach *a, const struct recording *r, uint64_t now,
			   bool counting);
/* Lets threads close all sets at the same time. session_close_sets() waits for them. */
void session_close_sets_beside(struct attach *a, struct recording *r);
/* Closes all sets, and what the scheduler is watched by. */
void session_close_sets(struct attach *a, struct recording *r);

#endif
