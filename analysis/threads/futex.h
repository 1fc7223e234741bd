/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Futex words: what threads wait on when they wait for each other. The kernel sees the word's
 * address, the value that it should still have, the operation, and which thread released which, but
 * no name. Whether a word is a lock, a condition or a barrier follows from these:
 *
 * - lock: priority-inheriting operations; or the word holds the number of its owner; or threads
 *   wait with the same value each time, not 0 ("taken, somebody waits"), and are released by
 *   threads that wait there too. The value is the same for all threads or for each (glibc's
 *   reader-writer lock has a value for either). Less certain: the value is 0, but several threads
 *   release each other in turn (a lock made of a condition).
 * - barrier: the value changes from round to round, for each thread that comes again, and all
 *   waiters are released at once (glibc, libgomp), or by a thread that waits there in other rounds.
 * - condition: the value is 0 or changes, and the releasing threads do not wait there; or it is a
 *   thread's end.
 * - semaphore: the value is 0. It is a lock if the releasing threads have waited there, else a
 *   condition.
 *
 * What a standard function says (standard.h) counts before these. A condition may be part of a
 * barrier, if the last thread to arrive releases all others, or of a lock, if its holder hands it
 * on and queues again before it releases the next time. With two threads that arrive in any order
 * it stays a condition. If both fit well, the result says so.
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

/* Whether threads wait here for work that other threads hand out (handout.h). */
enum futex_work {
	WORK_NONE,
	WORK_HANDED_OUT, /* by threads that do not wait for the workers */
	/* by threads that wait for the workers in turn, so that one side works at a time */
	WORK_IN_TURN,
	WORK_ROUNDS,  /* by a thread that waits until several workers are done, round by round */
	WORK_RESULTS, /* none: that thread's wait */
	WORK_OR_TIME, /* as handed out, but the waiter also acts when its time is over */
	WORK_GATHER,  /* none: one of the waiters releases all the others at once */
	WORK_QUEUE,   /* none: threads that wait in the same place end most of the waiting */
};

/* A futex wait as a REC_WAIT describes it. */
struct futex_wait {
	uint32_t thread; /* index */
	uint32_t operation, value;
	/* the value is the number of another thread, plus a flag that threads wait */
	bool names_owner;
	bool names_thread; /* the value is exactly a thread's number: the wait is for its end */
};

struct futex {
	uint64_t address;
	uint32_t tgid;
	uint64_t waits, inherits, requeues, plain, owned, ends;
	uint64_t same_value, zero_value, changes;
	uint64_t in_turn; /* releases by threads that have waited since their last release */
	uint64_t standard[STANDARD_WAITS]; /* waits, by what a standard function says */
	uint64_t of_program; /* of those at a condition, those whose stack shows no interpreter */
	/* waits of threads that waited before; those of them with another value */
	uint64_t again, moved;
	uint32_t first_value, last_value;
	uint64_t releases, own_releases; /* by any thread; by threads that wait there too */
	uint64_t by_one, by_all;	 /* those in functions that release one waiter, or all */
	uint32_t waiters;		 /* number of different threads */
	/* A round is the releases by one thread without a new wait between them. */
	uint64_t rounds, full_rounds, shared_rounds; /* full: no waiter was left */
	uint32_t waiting, round_size, round_waker;
	uint32_t first_waker; /* of the first release, if there is any */
	uint64_t last_acts;   /* releases by a thread that had worked, and ended right after */
	/*
	 * Waits that timed out, and how many of these led the waiter to release threads elsewhere.
	 */
	uint64_t timeouts, timed_acts;
	/*
	 * The tail is the releases since the latest wait: its number, its releases, and the threads
	 * released in it that have ended without doing anything else.
	 */
	uint32_t tail, tail_releases, tail_ends;
	uint64_t round_ns;
	uint32_t place; /* the first one where a thread waited (handout.h); 0: none is known */
	bool has_sides; /* known at the end: futexes_set_sides() */
	enum futex_work work; /* known at the end */
	double behind_work;   /* of a lock: part of the time in which its holders waited for work */
};

/* A pair of a word and a thread. */
struct futex_pair {
	uint64_t waits, releases;
	uint32_t last_value;
	bool released;	/* since its last wait, on this word or its twin */
	uint32_t place; /* where it waited last (handout.h), on this word or its twin; 0: not known
			 */
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
	bool either; /* a lock or a condition, because the evidence fits both */
};

void futexes_release(struct futexes *w);
/* Notes a wait. Returns the number of the word. */
uint32_t futexes_wait(struct futexes *w, uint32_t tgid, uint64_t address,
		      const struct futex_wait *wait);
/* Notes a release. waker is the index of a thread of the program, or UINT32_MAX for any other. */
void futexes_wake(struct futexes *w, uint32_t word, uint32_t waker, uint64_t time_ns);
/*
 * Waits and releases are not seen for a time. Who waits after it is not known, nor whether a thread
 * that releases a word then has waited for it before; what was counted stays.
 */
void futexes_forget_present(struct futexes *w);

/*
 * Returns the index of the thread that released the word last, or UINT32_MAX if none of the program
 * did. If nobody released it, its twin counts: glibc's condition variables let threads wait on two
 * neighboring words in turn.
 */
uint32_t futexes_releaser(const struct futexes *w, uint32_t word);
/*
 * Returns the same for the first release. Returns UINT32_MAX also if there was only one release, as
 * by a program that ends, because the word may only serve as a clock then.
 */
uint32_t futexes_first_releaser(const struct futexes *w, uint32_t word);
/* Notes how many waiters the function of the latest release releases. */
void futexes_released_by(struct futexes *w, uint32_t word, enum standard_release release);
/* Judges a word by what is known so far. */
struct futex_judgement futex_judge(const struct futex *word);
/* Notes that the thread of the latest release has ended since, without doing anything else. */
void futexes_last_act(struct futexes *w, uint32_t word);
/*
 * Whether threads wait on the word for the end of a thread: the kernel itself writes the end to the
 * word, or threads that worked for a while release it as their last action (a semaphore, a
 * condition, as Python's join). The state of a lock does not count.
 */
bool futex_is_end(const struct futex *word);
/* Notes that a thread which the tail's releases woke has ended, without doing anything else. */
void futexes_ended_after(struct futexes *w, uint32_t word, uint32_t tail);
/*
 * Whether nobody has waited there since the releases of that tail, and the threads that these woke
 * only ended: they had been parked, and were told to stop.
 */
bool futex_is_stop(const struct futex *word, uint32_t tail);
/* Notes that a wait there timed out … */
void futexes_timeout(struct futexes *w, uint32_t word);
/* … and that the waiter then released a thread from a condition elsewhere. */
void futexes_timed_act(struct futexes *w, uint32_t word);
/* Whether the two words are those of one condition variable of glibc, or the same word. */
bool futexes_twins(const struct futexes *w, uint32_t a, uint32_t b);
/* Returns the word that was seen first, this one or its twin. */
uint32_t futexes_first_twin(const struct futexes *w, uint32_t word);
/*
 * Notes in which place the thread waits at the word or its twin; place 0: not known, becomes the
 * latest known one of the thread there. Returns the place, or 0 if it is the first one of all.
 */
uint32_t futexes_side(struct futexes *w, uint32_t word, uint32_t thread, uint32_t *place);
/* Notes that threads of two sides, which wait in functions of their own, release each other at the
 * word and its twin: it is no lock that goes from thread to thread. */
void futexes_set_sides(struct futexes *w, uint32_t word);
/* Sets the work of the word and its twin. */
void futexes_set_work(struct futexes *w, uint32_t word, enum futex_work work);
/*
 * Whether threads wait there for a time: when the time is over there is something to do, as for a
 * timer's thread, which is released only to learn of an earlier time. A thread that waits for
 * another thread would look again and go on waiting.
 */
bool futexes_keeps_time(const struct futexes *w, uint32_t word);
/* Whether a scheduler's threads wait there for something to run. */
bool futex_is_work(const struct futex *word);
/* Whether threads wait there as at a semaphore, not at a condition variable. */
bool futex_is_semaphore(const struct futex *word);
/* Adds the facts that decided the judgment, as one sentence. */
void futex_facts(const struct futex *word, struct text *out);

#endif
