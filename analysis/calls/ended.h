/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Threads that have ended, where a program is watched for long and starts a new one for each
 * request: what they leave behind is added to one that stands for all of them, and threads to come
 * take their places, so that memory grows with the threads that live at once.
 *
 * Kept on their own are the last ENDED_KEPT, whose releases others may still be judged by, and
 * those that lived for a hundredth of the time so far (of the present part of it, too): only these
 * can be a block's sci_worst_thread. All other scores are of sums and do not change.
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
#define ENDED_SHARE 0.01 /* of the time: a thread that lived for so long stays itself */

/* The threads that visitors are told of: they add up the sums of all of these into one. */
struct ended_threads {
	struct thread *const *threads; /* their indexes become others' afterwards */
	size_t n;
	const bool *is_one; /* [thread index] */
	struct thread *into;
	uint64_t time_ns; /* now */
};

/*
 * From the begin on: threads that have ended are summed up by time_ns if there are enough of them.
 * Only with visitors that have sum_up, or keep nothing by thread.
 */
void ended_sum_up(struct calls *c, uint64_t time_ns);

/* For visitors: who released the sleepers. */
void ended_rename_wakers(const struct ended_threads *e, struct wait_sums *sums);

/* It has ended and was summed up; its index is free for another. */
void threads_vacate(struct threads *th, struct thread *t);
/* How many there were. */
uint64_t threads_count(const struct threads *th);

#endif
