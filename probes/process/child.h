/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Processes of ispot's own. None outlives the one that forked it: what waits on a pipe would wait
 * for ever after a recorder that was killed, as long as another process, forked later, has a copy
 * of the pipe's other end. So the kernel ends them (prctl(2), PR_SET_PDEATHSIG).
 */
#ifndef ISPOT_PROBES_PROCESS_CHILD_H
#define ISPOT_PROBES_PROCESS_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

/* Forks, and returns as fork() does. */
pid_t child_fork(void);
/*
 * The same; in the child it returns at child_go(). Closing *go_fd (-1 without a child) ends it.
 * Of the descriptors that were opened since given_note() it has keep_fd only (-1: none), also
 * where a library let an exec inherit them; without that call, of those that an exec closes.
 * Whoever is the last to close an event waits until the kernel has taken its probes out of all
 * programs: that is to be the recorder, for whoever waits until the recorder has ended must find no
 * probes.
 */
pid_t child_fork_held(int *go_fd, int keep_fd);
bool child_go(int go_fd); /* false: it has ended */
/* Called by the child itself: from now on it may live longer than its parent. */
void child_becomes_own(void);

/*
 * One that waits until it is ended: programs are attached to events opened on it. Started before
 * anything is opened. 0: it could not be.
 */
pid_t waiter_start(void);
void waiter_end(pid_t pid);

#endif
