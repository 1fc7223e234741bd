/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Windows of `record --solo`: for some milliseconds of each second all threads of the program may
 * use only one CPU, the same for all, so that no two of them run at the same time.
 *
 * A separate process, the keeper, opens and closes the windows. It ends a window if the recorder
 * ends in whatever way, and the recorder ends the window if the keeper was killed: both share
 * memory that holds the CPUs of each thread before they are changed. So threads stay on one CPU
 * only if both processes end at once inside a window.
 *
 * A thread that sets its own affinity meanwhile keeps it. Threads and processes created in a window
 * inherit the one CPU; they get the CPUs of their creator back. Two kinds are not found: a process
 * whose parents are gone by the end of the window, and a thread that asks in a window for exactly
 * the window's CPU.
 */
#ifndef ISPOT_PROBES_PROCESS_SOLO_H
#define ISPOT_PROBES_PROCESS_SOLO_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct err;
struct solo_area;

struct solo {
	struct solo_area *area; /* shared with the keeper; NULL: no keeper */
	pid_t keeper;
	int fd; /* the keeper sends windows through it */
};

struct solo_window {
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC */
	uint64_t waited_ns;	   /* time that the threads waited for the CPU */
	/*
	 * the part of this time that the window took from the program: the time of the CPUs that
	 * its threads could not use
	 */
	uint64_t cost_ns;
	uint32_t cpu;
};

#define SOLO_ON_NS     20000000ull   /* length of a window */
#define SOLO_PERIOD_NS 1000000000ull /* one window in this time, on average */
#define SOLO_FIRST_NS \
	100000000ull /* the first window begins after this, because short runs have little time */

/* Starts the keeper. */
int solo_open(struct solo *s, struct err *err);
/* Sets the processes that the program consists of now. */
void solo_targets(struct solo *s, const pid_t *pids, size_t n);
/* Takes a window that is over, or returns -EAGAIN. */
int solo_next(struct solo *s, struct solo_window *w);
/* Ends the keeper and an open window. solo_next() still returns windows that are over. */
void solo_end(struct solo *s);
void solo_release(struct solo *s);

#endif
