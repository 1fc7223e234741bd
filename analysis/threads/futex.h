/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Futex words: what threads wait on when they wait for each other. The kernel sees the word's
 * address, the value it was to keep and the operation, and who released whom; a name it never
 * sees. Whether a word is a lock, a condition or a barrier follows from these:
 *
 *	lock       priority-inheriting operations; the word holds the number of its owner; it is
 *	           waited for with the same value each time, not 0 ("taken, somebody waits"), and
 *	           released by threads that wait there too, by all or by each thread (glibc's
 *	           reader-writer lock has a value for either); less surely, where the value is 0
 *	           but several threads release each other in turn (a lock made of a condition)
 *	barrier    the value changes from round to round, for each thread that comes again, and
 *	           all who wait are released at once
 *	           (glibc, libgomp), or by a thread that waits there in other rounds
 *	condition  the value is 0 or changes, and who releases does not wait there; a thread's end
 *	semaphore  the value is 0: a lock where who releases has waited there, else a condition
 *
 * What a standard function says (standard.h) goes before these. A condition may still be what a
 * barrier is made of, whose last to arrive releases all others, or a lock, whose holder hands it
 * on and queues again before it releases the next time; of two threads that arrive in any order it
 * stays a condition. What may well be either is said to be.
 */
#ifndef ISPOT_ANALYSIS_THREADS_FUTEX_H
#define ISPOT_ANALYSIS_THREADS_FUTEX_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/threads/standard.h"
#include "base/hash.h"
#include "base/vec.h"

struct text;

enum futex_class { FUTEX_CONDITION, FUTEX_LOCK, FUTEX_BARRIER, FUTEX_CLASSES };

/* Whether threads wait for work there that others hand out (handout.h). */
enum futex_work {
	WORK_NONE,
	WORK_HANDED_OUT, /* by threads that do not wait for them */
	WORK_IN_TURN,	 /* by threads that wait for them in turn: one side works at a time */
	WORK_GATHER,	 /* none: all who wait in the place are released together by one of them */
	WORK_QUEUE,	 /* none: most of it is ended by threads that wait in the same place, too */
};

/* A futex wait as REC_WAIT tells it. */
struct futex_wait {
	uint32_t thread; /* index */
	uint32_t operation, value;
	bool names_owner;  /* the value is the number of another thread, and that threads wait */
	bool names_thread; /* the value is just a thread's number: it waits for its end */
};

struct futex {
	uint64_t address;
	uint32_t tgid;
	uint64_t waits, inherits, requeues, plain, owned, ends;
	uint64_t same_value, zero_value, changes;
	uint64_t in_turn; /* releases by threads that waited since their last one */
	uint64_t standard[STANDARD_WAITS]; /* waits by what a standard function says */
	uint64_t again, moved; /* waits of threads that waited before; with another value then */
	uint32_t first_value, last_value;
	uint64_t releases, own_releases; /* by threads; by those that wait there too */
	uint64_t by_one, by_all;	 /* of them: in functions that release one waiter, or all */
	uint32_t waiters;		 /* different threads */
	/* Releases by one thread with no new wait between them are one round. */
	uint64_t rounds, full_rounds, shared_rounds; /* full: nobody was left waiting */
	uint32_t waiting, round_size, round_waker;
	uint32_t first_waker; /* of releases, where there are any */
	uint64_t last_acts;   /* of releases: by a thread that had worked, and ended then */
	/* Waits whose time was over, and after how many of them the waiter made others go on. */
	uint64_t timeouts, timed_acts;
	/* The releases since the latest wait, in the counting of such tails; and of those released
	 * then the threads that have ended without doing anything more. */
	uint32_t tail, tail_releases, tail_ends;
	uint64_t round_ns;
	enum futex_work work; /* known at the end */
};

/* (word, thread) */
struct futex_pair {
	uint64_t waits, releases;
	uint32_t last_value;
	bool released; /* since it waited, on the twin or here */
};

struct futexes {
	struct {
		VEC(struct futex)
	} all;
	struct map by_address;
	struct {
		VEC(struct futex_pair)
	} pairs;
	struct map pair_of;
};

struct futex_judgement {
	enum futex_class class;
	double confidence;
	bool either; /* a lock or a condition: what was seen fits both */
};

void futexes_release(struct futexes *w);
/* The word's number. */
uint32_t futexes_wait(struct futexes *w, uint32_t tgid, uint64_t address,
		      const struct futex_wait *wait);
/* waker: index of a thread of the program; UINT32_MAX: none of it. */
void futexes_wake(struct futexes *w, uint32_t word, uint32_t waker, uint64_t time_ns);

/*
 * Index of the thread that released the word last; UINT32_MAX: none of the program did. Where
 * nobody did, of its twin: glibc's condition variables let threads wait on two neighbouring words
 * in turn.
 */
uint32_t futexes_releaser(const struct futexes *w, uint32_t word);
/* The same of the thread that did so first; one that was released only once, as by a program that
 * ends, may be no more than a clock: UINT32_MAX. */
uint32_t futexes_first_releaser(const struct futexes *w, uint32_t word);
/* The latest release was made in a function that releases so many. */
void futexes_released_by(struct futexes *w, uint32_t word, enum standard_release release);
/* By what is known so far. */
struct futex_judgement futex_judge(const struct futex *word);
/* The thread that released it then has ended since, with nothing else to do. */
void futexes_last_act(struct futexes *w, uint32_t word);
/*
 * Waited on for the end of a thread: the kernel itself writes that down, or threads that worked for
 * a while release it (a semaphore, a condition, as Python's join) with the last that they do. A
 * lock's state is no such.
 */
bool futex_is_end(const struct futex *word);
/* A thread that the tail's releases woke has ended since, with nothing else to do. */
void futexes_ended_after(struct futexes *w, uint32_t word, uint32_t tail);
/*
 * Nobody has waited there since the releases of that tail, and the threads that these woke did no
 * more than end: they had been parked, and were told to stop.
 */
bool futex_is_stop(const struct futex *word, uint32_t tail);
/* A wait there ended as its time was over, … */
void futexes_timeout(struct futexes *w, uint32_t word);
/* … and the waiter then released somebody from a condition elsewhere. */
void futexes_timed_act(struct futexes *w, uint32_t word);
/* Both words of one condition variable, of glibc's, or the same. */
bool futexes_twins(const struct futexes *w, uint32_t a, uint32_t b);
/* Of those two the one that was seen first. */
uint32_t futexes_first_twin(const struct futexes *w, uint32_t word);
/* Of the word and its twin. */
void futexes_set_work(struct futexes *w, uint32_t word, enum futex_work work);
/*
 * Its time is what is waited for there: when it is over there is something to do, as for a timer's
 * thread, which is released only to be told of an earlier time. Who waits for somebody else looks
 * again and waits on.
 */
bool futexes_keeps_time(const struct futexes *w, uint32_t word);
/* Waited on as a semaphore, not at a condition variable. */
bool futex_is_semaphore(const struct futex *word);
/* The facts it was judged by, one sentence. */
void futex_facts(const struct futex *word, struct text *out);

#endif
