/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Part of section.c: the functions that take and release locks, as rows of a table. */
#ifndef ISPOT_ANALYSIS_LOCK_TABLE_H
#define ISPOT_ANALYSIS_LOCK_TABLE_H

#include <stdbool.h>
#include <stdint.h>

struct meta_function;

enum lock_action {
	LOCK_TAKE,
	LOCK_TRY, /* took it if it returned 0 */
	LOCK_RELEASE,
	LOCK_WAIT,  /* releases, waits for something else, takes it again */
	LOCK_AWAIT, /* waited for it and took it: how long it is held a record of its own says */
};

struct lock_function {
	const char *name;
	enum lock_action action;
	uint32_t bit; /* the argument that is the lock */
	bool shared;
};

/* By its symbol; NULL: it has nothing to do with a lock. */
const struct lock_function *lock_function_of(const struct meta_function *f);

#endif
