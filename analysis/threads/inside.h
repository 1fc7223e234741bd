/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Locks that the C library has for itself: that of malloc()'s arenas, of a FILE, of rand(), of the
 * loader. Their critical sections are not the program's, so the advice against them is another than
 * that for a lock of the program.
 */
#ifndef ISPOT_ANALYSIS_THREADS_INSIDE_H
#define ISPOT_ANALYSIS_THREADS_INSIDE_H

struct meta;
struct meta_stack;

enum inside_lock {
	INSIDE_NONE, /* the program itself called a function that takes locks, or it is not known */
	INSIDE_MALLOC,
	INSIDE_STDIO,
	INSIDE_RANDOM,
	INSIDE_LOADER,
	INSIDE_ONCE, /* what a thread does once, and others wait for: pthread_once() */
	INSIDE_OTHER,
	INSIDE_LOCKS,
};

/* Returns for which of these locks a thread waits that sleeps at a lock with this stack, by the
 * function of the C library that the program called. */
enum inside_lock inside_lock_of(const struct meta *meta, const struct meta_stack *stack);

#endif
