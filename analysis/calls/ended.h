/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sums up threads that have ended, for programs that start a new thread for each request and are
 * watched for long: the sums of an ended thread are added to one thread that stands for all of
 * them, and its index is given to a new thread. So memory grows with the number of threads that
 * live at the same time.
 *
 * Two kinds of ended threads are kept: the last ENDED_KEPT, because waits of other threads may
 * still be judged by their wakeups, and those that lived for a hundredth of the time so far (or of
 * the present part of the recording), because only these can be a block's sci_worst_thread. All
 * other scores are computed from sums and do not change.
 */
#ifndef ISPOT_ANALYSIS_CALLS_ENDED_H
#define ISPOT_ANALYSIS_CALLS_ENDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct calls;
struct thread;
struct threads;
struct wait_sums;

#define ENDED_KEPT  512
#define ENDED_SHARE 0.01 /* of the time so far: a thread that lived longer is kept */

/* The threads that are summed up: visitors merge what they keep for these into one thread. */
struct ended_threads {
	struct thread *const *threads; /* their indices are reused afterwards */
	size_t n;
	const bool *is_one; /* [thread index]: it is one of threads */
	struct thread *into;
	uint64_t time_ns; /* now */
};

/* Sums up threads that have ended, if there are enough of them. time_ns: now. Only for analyses
 * whose visitors have sum_up or keep nothing by thread. */
void ended_sum_up(struct calls *c, uint64_t time_ns);

/* For visitors: replaces summed-up threads among the wakers in sums. */
void ended_rename_wakers(const struct ended_threads *e, struct wait_sums *sums);

/* Frees the index of a thread that was summed up. */
void threads_vacate(struct threads *th, struct thread *t);
/* Returns how many threads there were, with those that were summed up. */
uint64_t threads_count(const struct threads *th);

#endif
