/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Child processes of ispot. None outlives the process that forked it, because the kernel kills it
 * then (prctl(2), PR_SET_PDEATHSIG). Otherwise a reader of a pipe would wait for ever after a
 * recorder was killed, as long as a process forked later has a copy of the pipe's other end.
 */
#ifndef ISPOT_PROBES_PROCESS_CHILD_H
#define ISPOT_PROBES_PROCESS_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

/* Forks, and returns as fork() does. */
pid_t child_fork(void);
/*
 * Forks a child that returns from here only after child_go(). Closing *go_fd (-1 without a child)
 * ends the child. Of the descriptors opened since given_note(), the child has only keep_fd (-1:
 * none), even if a library allowed an exec to inherit them; without a call of given_note(), this
 * holds for those that an exec closes. The process that closes an event last waits until the kernel
 * has removed its probes from all programs. This must be the recorder, because whoever waits for
 * the recorder's end must find no probes.
 */
pid_t child_fork_held(int *go_fd, int keep_fd);
bool child_go(int go_fd); /* false: the child has ended */
/* Called by the child itself: from now on it may outlive its parent. */
void child_becomes_own(void);

/*
 * Starts a process that waits until waiter_end(); programs are attached to events opened on it. It
 * must start before anything is opened. Returns 0 if it cannot be started.
 */
pid_t waiter_start(void);
void waiter_end(pid_t pid);

#endif
