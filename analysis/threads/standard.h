/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What standard libraries' functions wait for. pthread_barrier_wait of libc waits at a barrier,
 * whatever its futex looks like: where a sleep's stack, or the innermost traced call, is in one of
 * these functions, the futex is known and need not be judged by behaviour. A function counts in its
 * own library only: a program's function of the same name says nothing.
 */
#ifndef ISPOT_ANALYSIS_THREADS_STANDARD_H
#define ISPOT_ANALYSIS_THREADS_STANDARD_H

#include <stdbool.h>
#include <stdint.h>

struct meta;
struct meta_stack;
struct thread;

enum standard_wait {
	STANDARD_NONE,
	STANDARD_LOCK,
	STANDARD_CONDITION, /* or the mutex that belongs to it */
	STANDARD_BARRIER,
	STANDARD_SEMAPHORE, /* a lock where those who wait there release it */
	STANDARD_END,	    /* of a thread */
	STANDARD_WAITS,
};

/* What a library's function waits for. object: the path of the library; symbol: mangled or
 * demangled. */
enum standard_wait standard_wait_of(const char *object, const char *symbol);
/* By the innermost frame that is in the table. */
enum standard_wait standard_wait_in(const struct meta *meta, const struct meta_stack *stack);

/* How a standard function that a thread is in releases those who wait at a condition. */
enum standard_release { RELEASE_UNKNOWN, RELEASE_ONE, RELEASE_ALL };
enum standard_release standard_release_in(const struct thread *t);

/* Whether that is the path of one of the libraries whose functions are known. */
bool standard_is_library(const char *object);

/* The thread's present sleep has that stack, by its number. */
void standard_see_stack(struct thread *t, uint64_t stack);
/* The kind of wait (enum wait_kind) that the innermost traced call of a thread is for; WAIT_OTHER:
 * one that the table above has. WAIT_UNKNOWN: the call says nothing. */
uint32_t standard_kind_of_call(const struct thread *t);
/* To be called when the kind and the futex of the thread's present wait are known. */
void standard_see_wait(struct thread *t);

#endif
