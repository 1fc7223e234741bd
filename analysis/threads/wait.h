/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sums over the sleeps of one block, by what the threads slept in and who released them, and
 * what kinds of cause these are. The kinds follow from rows over facts of the kernel (REC_WAIT,
 * REC_WAKING); names of functions, threads and programs play no part, but for those of standard
 * functions where the kernel says nothing (standard.h).
 */
#ifndef ISPOT_ANALYSIS_THREADS_WAIT_H
#define ISPOT_ANALYSIS_THREADS_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/threads/wakeup_chain.h"
#include "base/vec.h"

struct threads;

/* Who released the sleepers most, by time slept. */
struct wait_waker {
	uint32_t thread, function; /* SLEEP_NOBODY: none */
	uint64_t sleeps, ns;
};
#define WAIT_WAKERS_MAX 4

struct wait_cell {
	uint32_t kind, word, call; /* as in struct sleep */
	enum sleep_end end;
	bool uninterruptible, iowait, by_call;
	uint32_t stack; /* of one of its sleeps, its number + 1; 0: none is known */
	uint32_t tries; /* of a timed sleep: the place (tries.h); 0: none is known */
	uint32_t place; /* at no futex, ended by a thread: the place (handout.h), 0: none is known;
			   at a futex: the side (struct sleep) */
	uint32_t standard; /* enum standard_wait, where the system call says no more than that */
	uint64_t sleeps, ns, idle_ns; /* ns: until the wakeup, idle_ns of it */
	uint64_t pause_ns; /* of idle_ns: whoever ended the sleeps let a time pass meanwhile */
	/* Part of idle_ns only as nobody had released the futex yet, and when that was. */
	uint64_t early_ns, early_from_ns, early_to_ns;
	/* Lost only as far as the latest releases of the futex seen here were to go on. */
	uint32_t tail;
	uint64_t tail_ns;
	struct wait_waker wakers[WAIT_WAKERS_MAX];
	uint64_t wakes; /* sleeps of others like it that the block ended */
};
#define WAIT_CELLS_MAX 128 /* those beyond share cells without a word or a place */

struct wait_sums {
	VEC(struct wait_cell)
};

/* The thread's latest sleep, which ended or goes on to time_ns. */
void wait_add(struct wait_sums *sums, const struct thread *t, uint64_t time_ns);
/* The same into sums on the heap, made if need be. */
void wait_add_new(struct wait_sums **sums, const struct thread *t, uint64_t time_ns);
/* Into sums on the heap: the block released that thread from its latest sleep. */
void wait_add_wake(struct wait_sums **sums, const struct thread *woken);
void wait_merge(struct wait_sums *sums, const struct wait_sums *more);
/*
 * Now that more is known: sleeps whose time was over before the first release of their futex waited
 * for the one who did that, those that threads released as their last act waited for an end,
 * whoever has done nothing but end since it was released was parked, and threads that queue are
 * held up by the one in front, also while that one sleeps for a time. Sleeps between tries for a
 * lock wait for it.
 * Returns the ns that were called idle and are not, less than 0: that were not and are.
 */
int64_t wait_reconsider(const struct threads *th, struct wait_sums *sums);
void wait_sums_free(struct wait_sums **sums);

/* The kind of cause that a cell is, static; "unknown" where the records do not say. */
struct wait_cause {
	const char *kind;
	double confidence;
	const char *fact; /* what the kernel said, in words */
};
struct wait_cause wait_cause_of(const struct threads *th, const struct wait_cell *cell);
/* At a futex that another thread signals: not at a file that one writes to, nor for one's end. */
bool wait_is_signaled(const struct threads *th, const struct wait_cell *cell);

/* For threads that wait in the same place at other times: they go on one after the other. */
bool wait_is_queue(const struct threads *th, const struct wait_cell *cell);
/* Probably for a lock, by timed sleeps between tries to take it (tries.h). */
bool wait_is_tried(const struct threads *th, const struct wait_cell *cell);
/* Whether the wait is in a standard function of semaphores, as sem_wait() is. */
bool wait_is_at_semaphore(const struct threads *th, const struct wait_cell *cell);
/* The name of the function in which threads sleep so, "" if it has none. NULL: they sleep so for no
 * more than a tenth of the time. */
const char *wait_tried(const struct threads *th, const struct wait_sums *sums);
/* The same of a function in which threads sleep again and again, for what is not known. NULL: they
 * sleep so for no more than half of the time. */
const char *wait_maybe_tried(const struct threads *th, const struct wait_sums *sums);
/* At a lock or a condition: what was seen fits both. */
bool wait_is_either(const struct threads *th, const struct wait_cell *cell);
/* For threads that in turn wait for those who wait there. */
bool wait_is_in_turn(const struct threads *th, const struct wait_cell *cell);
/* For the next round of work, of a thread that waits until all of this round is done. */
bool wait_is_for_round(const struct threads *th, const struct wait_cell *cell);

/* What of the sums is of one kind. */
struct wait_part {
	double lost_share, idle_share; /* of all lost and of all idle time of the sums, 0..1 */
	double confidence;	       /* weighted by time */
	double sleeps_share;	       /* of all sleeps */
	double wakes_share;	       /* of all sleeps of others that the block ended */
	uint64_t sleeps, ns;
	const struct wait_cell *largest; /* NULL: none is of the kind */
	struct wait_waker waker;	 /* who released most of it; sleeps 0: nobody known */
};
struct wait_part wait_part(const struct threads *th, const struct wait_sums *sums,
			   const char *kind);

#endif
