/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Part of section.c: the functions that take and release locks, as rows of a table. */
#ifndef ISPOT_ANALYSIS_LOCK_TABLE_H
#define ISPOT_ANALYSIS_LOCK_TABLE_H

#include <stdbool.h>
#include <stdint.h>

struct meta_function;

enum lock_action {
	LOCK_TAKE,
	LOCK_TRY, /* took the lock if it returned 0 */
	LOCK_RELEASE,
	LOCK_WAIT,  /* releases the lock, waits for something else, and takes the lock again */
	LOCK_AWAIT, /* waited for the lock and took it; a REC_HELD record has the hold time */
};

/* A lock is taken and released by functions of one kind. */
enum lock_kind { LOCK_OF_MUTEX, LOCK_OF_RWLOCK, LOCK_OF_SPIN, LOCK_OF_C11, LOCK_KINDS };

struct lock_function {
	const char *name;
	enum lock_action action;
	uint32_t bit; /* the argument that is the lock */
	bool shared;
	enum lock_kind kind;
};

/* Returns the row of a function by its symbol, or NULL if it is no lock function. */
const struct lock_function *lock_function_of(const struct meta_function *f);
/* Returns the name of the function that releases such locks. */
const char *lock_release_of(enum lock_kind kind);
/* Returns the pattern of all functions of such locks, "pthread_rwlock_*". */
const char *lock_pattern_of(enum lock_kind kind);

#endif
