/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Locks that are waited for by sleeping: a thread tries, sleeps for a short time, and tries again,
 * as the busy handler of SQLite does. No record says for what. But whoever begins such a sleep
 * found the lock taken, by a thread that is not asleep there. So the threads that sleep in a
 * function at times are never all asleep there at once, however much of the time each of them is.
 * Threads that sleep to let time pass, or until work comes, mostly are. This is no proof: where
 * there is always some work, but less than threads, one of them is awake as well. If three or
 * more threads wait for a lock so, two of them are often asleep together. If two never are, each
 * sleeper holds the lock itself. So does one that then wakes another of them, which waited
 * meanwhile: a thread with a lock that others sleep for waits for none of them.
 *
 * This is decided at the end of a recording, by function: the innermost of the program's own that
 * leads to the sleep. It takes threads that sleep so much that all of them would often meet there
 * if each slept when it liked. What is known of a standard function (standard.h) needs none of
 * that.
 */
#ifndef ISPOT_ANALYSIS_THREADS_TRIES_H
#define ISPOT_ANALYSIS_THREADS_TRIES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/vec.h"

struct meta_frame;

#define TRIES_SLEEPS_MAX 262144 /* of all functions; those that come later are not looked at */
#define TRIES_PLACE_MAX	 65536	/* of a function in which several threads sleep */
#define TRIES_ALONE_MAX	 8192	/* of one in which only one did so far: older ones are forgotten */

enum tries_verdict {
	TRIES_NO, /* sleeps of one thread, that are not repeated, or with a lock that others wait
		     for */
	TRIES_UNKNOWN, /* sleeps of several threads, repeated or not all seen: for whatever it is */
	TRIES_LOCK,    /* probably for what one of these threads has */
	TRIES_KNOWN,   /* for a lock, as the function is known to sleep for one */
};

struct tries {
	size_t sleeps; /* that are kept, of all places */
	struct {
		VEC(struct tries_place)
	} places;	      /* [number - 1] */
	struct map places_by; /* hash of the function -> number of the place */
	struct map place_of;  /* number of a stack -> number of the place */
	struct map latest_of; /* index of a thread -> number of the place where it slept last */
};

struct tries_sleep {
	uint64_t from_ns, to_ns;
	uint64_t ready_ns;	/* in the run queue, of all of the thread's time until then */
	uint32_t thread, place; /* place: number */
	uint32_t freed; /* index + 1 of a thread that waited until this one woke it; 0: none */
};

struct tries_place {
	const char *function; /* the meta's; "": it has no name */
	enum tries_verdict verdict;
	struct {
		VEC(struct tries_sleep)
	} sleeps;
	uint64_t first_ns; /* when the first sleep began, also if it is forgotten */
	uint32_t thread;   /* of the first sleep */
	bool known;	   /* its function is known to sleep between tries for a lock */
	bool several;	   /* other threads sleep there, too */
	bool cut;	   /* not all sleeps of several threads are kept */
};

/* Returns the number of the place of a stack, by the stack's number, or MAP_NONE: not known yet. */
uint32_t tries_place_of(const struct tries *x, uint64_t stack);
/* Notes which function is the innermost of the program in a stack; NULL: none. known: the function
 * is known to sleep between tries for a lock. Returns the number of its place; 0: none. */
uint32_t tries_new_stack(struct tries *x, uint64_t stack, const struct meta_frame *function,
			 bool known);
/* A sleep that a clock ended. */
void tries_add(struct tries *x, const struct tries_sleep *sleep);
/* A thread ends another one's wait, which began at since_ns, for something that threads hand on. */
void tries_freed(struct tries *x, uint32_t thread, uint32_t other, uint64_t since_ns);
/* At the end: judges the places. */
void tries_judge(struct tries *x);
enum tries_verdict tries_verdict_of(const struct tries *x, uint32_t place);
/* The function of a place, "" if it has no name. */
const char *tries_function(const struct tries *x, uint32_t place);
void tries_release(struct tries *x);

#endif
