/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Windows of `record --solo`: for some milliseconds of each second all threads of the program may
 * use one CPU only, the same for all, so that none of them runs beside another.
 *
 * A process of its own, the keeper, opens and closes the windows. It ends a window when the
 * recorder ends in whatever way, and the recorder ends it where the keeper was killed: what a
 * thread may use is written down in memory that both share before it is changed. So only the
 * end of both at once, in a window, leaves threads on one CPU.
 *
 * A thread that has set its own affinity meanwhile keeps it. Threads and processes born in a
 * window inherit the one CPU; they are given what their maker may use. Two are not found: a process
 * whose parents are gone by the end of the window, and a thread that in a window asks for the very
 * CPU of the window and means it.
 */
#ifndef ISPOT_PROBES_PROCESS_SOLO_H
#define ISPOT_PROBES_PROCESS_SOLO_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct err;
struct solo_area;

struct solo {
	struct solo_area *area; /* shared with the keeper; NULL: there is none */
	pid_t keeper;
	int fd; /* windows come from it */
};

struct solo_window {
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC */
	uint64_t waited_ns;	   /* by the threads, for the CPU */
	uint64_t cost_ns;	   /* of it, what windows took from the program: the time of the
				    * CPUs that its threads could not use */
	uint32_t cpu;
};

#define SOLO_ON_NS     20000000ull   /* a window */
#define SOLO_PERIOD_NS 1000000000ull /* one in so long, on average */
#define SOLO_FIRST_NS                                                              \
	100000000ull /* the first begins after that: there is little of short runs \
		      */

/* Starts the keeper. */
int solo_open(struct solo *s, struct err *err);
/* Says which processes the program consists of by now. */
void solo_targets(struct solo *s, const pid_t *pids, size_t n);
/* Takes a window that is over, if there is one. */
int solo_next(struct solo *s, struct solo_window *w);
/* Ends the keeper and an open window. Windows that are over can still be taken. */
void solo_end(struct solo *s);
void solo_release(struct solo *s);

#endif
