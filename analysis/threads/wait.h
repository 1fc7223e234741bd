/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sums up the sleeps of one block, by what the threads slept in and who released them, and finds
 * the cause of each. The cause follows from rows over facts that the kernel reports (REC_WAIT,
 * REC_WAKING). Names of functions, threads and programs play no part, except those of standard
 * functions if the kernel reports nothing (standard.h).
 */
#ifndef ISPOT_ANALYSIS_THREADS_WAIT_H
#define ISPOT_ANALYSIS_THREADS_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/threads/inside.h"
#include "analysis/threads/standard.h"
#include "analysis/threads/wakeup_chain.h"
#include "base/vec.h"

struct threads;

/* A thread and function that released sleepers, with how long they had slept. */
struct wait_waker {
	uint32_t thread, function; /* SLEEP_NOBODY: none */
	uint64_t sleeps, ns;
};
#define WAIT_WAKERS_MAX 4

struct wait_cell {
	uint32_t kind, word, call; /* as in struct sleep */
	enum sleep_end end;
	bool uninterruptible, iowait, by_call;
	uint32_t stack; /* stack of one of its sleeps, number + 1; 0: none is known */
	uint32_t tries; /* place of a timed sleep (tries.h); 0: none is known */
	uint32_t place; /* at no futex, ended by a thread: the place (handout.h), 0: none is known;
			   at a futex: the side (struct sleep) */
	uint32_t standard; /* enum standard_wait, if the system call tells nothing else */
	uint64_t sleeps, ns, idle_ns; /* ns: until the wakeup; idle_ns is a part of ns */
	uint64_t pause_ns;	      /* part of idle_ns in which the releaser let a time pass */
	/* Part of idle_ns that is idle only because nobody had released the futex yet, and its
	 * time. */
	uint64_t early_ns, early_from_ns, early_to_ns;
	/* Time that is lost only if the futex's latest releases, this tail, meant that the sleepers
	 * go on. */
	uint32_t tail;
	uint64_t tail_ns;
	struct wait_waker wakers[WAIT_WAKERS_MAX];
	uint64_t wakes; /* such sleeps of other threads that the block ended */
};
#define WAIT_CELLS_MAX 128 /* further sleeps share cells without a word or a place */

struct wait_sums {
	VEC(struct wait_cell)
};

/* Adds the thread's latest sleep, which has ended or goes on until time_ns. */
void wait_add(struct wait_sums *sums, const struct thread *t, uint64_t time_ns);
/* Does the same with sums on the heap, which are made if there are none. */
void wait_add_new(struct wait_sums **sums, const struct thread *t, uint64_t time_ns);
/* Adds to sums on the heap that the block released the thread from its latest sleep. */
void wait_add_wake(struct wait_sums **sums, const struct thread *woken);
void wait_merge(struct wait_sums *sums, const struct wait_sums *more);
/*
 * Corrects the idle time by what is known only at the end:
 *
 * A sleep that timed out before the first release of its futex waited for the thread that made this
 * release. A sleep that a thread released as its last act waited for that thread's end. A thread
 * that did nothing but end after it was released was parked. Queued threads are held up by the one
 * in front, also while that one sleeps for a time. Sleeps between tries for a lock wait for the
 * lock.
 *
 * Returns the time in ns that was taken for idle and is not; below 0, the time that is idle after
 * all.
 */
int64_t wait_reconsider(const struct threads *th, struct wait_sums *sums);
void wait_sums_free(struct wait_sums **sums);

/* The cause of a cell. The strings are static; kind is "unknown" if the records do not tell. */
struct wait_cause {
	const char *kind;
	double confidence;
	const char *fact; /* what the kernel reported, in words */
};
struct wait_cause wait_cause_of(const struct threads *th, const struct wait_cell *cell);
/* Returns whether the wait is at a futex that another thread signals, and not for data in a file or
 * for the end of a thread. */
bool wait_is_signaled(const struct threads *th, const struct wait_cell *cell);

/* Returns whether the wait is in a queue: for threads that at other times wait in the same place,
 * and that go on one after the other. */
bool wait_is_queue(const struct threads *th, const struct wait_cell *cell);
/* Returns whether the wait is probably for a lock, in timed sleeps between tries to take it
 * (tries.h). */
bool wait_is_tried(const struct threads *th, const struct wait_cell *cell);
/* The same, and the function that sleeps is known to do so for a lock. */
bool wait_is_tried_surely(const struct threads *th, const struct wait_cell *cell);
/* Returns whether the wait is in a standard function of semaphores, such as sem_wait(). */
bool wait_is_at_semaphore(const struct threads *th, const struct wait_cell *cell);
/* Returns the language whose interpreter's lock the wait is for. */
enum standard_language wait_is_at_interpreter(const struct threads *th,
					      const struct wait_cell *cell);
/* Returns whether the wait, if it is for a lock, is for the mutex of a condition, at the end of a
 * wait for that. */
bool wait_is_after_signal(const struct threads *th, const struct wait_cell *cell);
/* Returns which lock of the C library's own the wait is for, if it is for a lock. */
enum inside_lock wait_is_inside(const struct threads *th, const struct wait_cell *cell);
/* Returns the name of the function with such sleeps, "" if it has none, or NULL if they take at
 * most a tenth of the time. */
const char *wait_tried(const struct threads *th, const struct wait_sums *sums);
/* Returns the name of a function in which threads sleep again and again for an unknown reason, or
 * NULL if these sleeps take at most half of the time. */
const char *wait_maybe_tried(const struct threads *th, const struct wait_sums *sums);
/* Returns whether the wait is at a lock or at a condition, because the records fit both. */
bool wait_is_either(const struct threads *th, const struct wait_cell *cell);
/* Returns whether the waiting threads and those that they wait for take turns. */
bool wait_is_in_turn(const struct threads *th, const struct wait_cell *cell);
/* Returns whether the wait is for the next round of work from a thread that waits until all of this
 * round is done. */
bool wait_is_for_round(const struct threads *th, const struct wait_cell *cell);

/* The part of the sums with one cause. */
struct wait_part {
	double lost_share, idle_share; /* of all lost and of all idle time of the sums, 0..1 */
	double confidence;	       /* weighted by time */
	double sleeps_share;	       /* of all sleeps */
	double wakes_share;	       /* of all sleeps of others that the block ended */
	uint64_t sleeps, ns;
	const struct wait_cell *largest; /* NULL: no cell has the cause */
	struct wait_waker waker;	 /* who released most of it; sleeps 0: unknown */
};
struct wait_part wait_part(const struct threads *th, const struct wait_sums *sums,
			   const char *kind);

#endif
