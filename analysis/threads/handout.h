/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Work that threads hand out to others. A worker that waits at a condition until another thread has
 * something to do for it is not held up by that thread: it is idle, and what the other one lacks
 * is counted where that one runs or waits. A futex is such a place if
 *
 *	it is a condition, by what its waits and releases look like (futex.h);
 *	other threads release it than those who wait there, or these only when they themselves were
 *	given something, and those others hardly ever wait for the ones who wait there: threads that
 *	wait for each other share something, and that is lost time;
 *	most of that time those others do not wait in the same place of the program themselves,
 *	each at a futex of its own or at none, as writers do that queue up: a lock, whatever it is
 *	made of;
 *	its waiters wait there near their thread's outermost function. Who waits further inside, as
 *	in a transaction for a row that is locked, is in the middle of something.
 *
 * Where threads wait for each other at one futex in different places of the program, each of these
 * is judged as if it had a futex of its own.
 *
 * A thread that hands out work to several others and then waits, for much of its time, until they
 * are done is as idle as one that waits for threads to end: they work instead of it. How unevenly
 * they share the work is counted where they wait for the next.
 *
 * Who waited for whom is known at the end of a recording.
 */
#ifndef ISPOT_ANALYSIS_THREADS_HANDOUT_H
#define ISPOT_ANALYSIS_THREADS_HANDOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/threads/futex.h"
#include "base/hash.h"
#include "base/vec.h"

struct thread;
struct threads;

#define HANDOUTS_MAX 65536 /* rows; of a program that has more no word is judged */

struct handouts {
	struct {
		VEC(struct handout)
	} rows;
	struct map row_of;
	uint64_t shown_from_ns; /* when the reported window begins */
	struct {
		VEC(struct handout_place)
	} rounds;		     /* by place - 1 */
	struct map waits_at;	     /* place and thread -> 1 */
	struct map places, place_of; /* by hash; of a stack's number + 1 -> place */
	/* at the end, of futexes whose places are judged apart: */
	struct map split;	 /* -> SPLIT; SPLIT_GIVES: in some of them work is given */
	struct map work_of_side; /* futex and place -> enum futex_work */
	/* at the end, of places without a futex: */
	struct map queues;  /* where threads queue -> 1 */
	struct map results; /* where one waits for the results of several -> 1 */
	struct map given;   /* where others give work, by a pipe or a socket -> enum futex_work */
	bool full;
};

enum { SPLIT = 1, SPLIT_GIVES };

/* Sleeps in one place that were ended: a round's had all begun before the first of them was. */
struct handout_place {
	uint64_t first_ns, last_ns, size; /* of the latest round's ends */
	uint64_t rounds, shared;	  /* shared: of more than one sleep */
	uint64_t sleeps, waiters;	  /* waiters: different threads */
	uint64_t since_ns, spans_ns;	  /* the first round's first end; sum of last - first */
	uint64_t messages;		  /* sleeps for what comes by a pipe or a socket */
	uint64_t polls;			  /* of them, those for what comes by any of several */
	uint32_t n_frames;		  /* of the stacks there; of the first one */
	uint64_t function; /* in which the program waits there, as a hash; 0: not known */
};

/* Sleeps of one thread in one place, at one futex or at none, that one other thread ended. */
struct handout {
	uint32_t word;		/* of threads' words; SLEEP_NOBODY: it was no futex */
	uint32_t waiter, waker; /* indices of threads */
	uint32_t frames;	/* of the shortest whole stack, of no standard library; 0: none */
	uint32_t place;		/* the functions further inside; 0: none is known */
	uint64_t ns, sleeps;
	uint64_t shown_ns; /* part of ns in the window that is reported */
};

/* How deep inside a thread's calls its waits are. */
struct thread_depth {
	uint32_t root;	   /* the outermost frame of its longest stack */
	uint32_t longest;  /* frames, of stacks that end in the root */
	uint32_t shortest; /* of them, of no standard library; 0: none is known */
};

/* The reported window begins here. What was seen before still tells what the waits are for. */
void handouts_restart(struct handouts *h, uint64_t time_ns);
/* The thread's present sleep was ended. Sets its side. */
void handouts_add(struct handouts *h, struct thread *t);
/* Threads is_one[index] are summed up: their rows are of the thread with that index from here on.
 */
void handouts_rename(struct handouts *h, const bool *is_one, uint32_t into);
/* At the end: marks the words where work is handed out. */
void handouts_judge(struct threads *th);
/*
 * After that: the thread whose work others waited for most, and how long they did so in all. NULL:
 * nobody waits for work, or for that of several threads.
 */
const struct thread *handouts_giver(const struct threads *th, uint64_t *waited_ns);
/* After handouts_judge(): what waits on that side of the futex (struct sleep) are for. */
enum futex_work handouts_work(const struct threads *th, uint32_t word, uint32_t side);
/* Whether threads wait at the futex, or on a side of it, for work that others give. */
bool handouts_is_given(const struct threads *th, uint32_t word);
/* Whether those who wait with that stack, its number + 1, wait for others who do so in turn. */
bool handouts_is_queue(const struct handouts *h, uint64_t stack);
/* Returns the place of a sleep with that stack, its number + 1, or 0 if none is known. */
uint32_t handouts_place(const struct handouts *h, uint64_t stack);
/* Whether threads poll in that place, as the loop of a worker does, for work that others hand out.
 */
bool handouts_polls_for_work(const struct handouts *h, uint32_t place);
/* Whether waits at no futex in that place are for the results of several threads, to which the
 * waiter hands out work. */
bool handouts_awaits_results(const struct handouts *h, uint32_t place);
void handouts_release(struct handouts *h);

#endif
