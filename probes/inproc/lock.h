/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The locks of in-process producers. In the file their waits are calls of a function that stands
 * for all locks of a program and has the lock as its argument. */
#ifndef ISPOT_PROBES_INPROC_LOCK_H
#define ISPOT_PROBES_INPROC_LOCK_H

#include <stdint.h>

struct inproc_drain;
struct inproc_region;

#define INPROC_TAKES_LOCK "monitorenter" /* name of the Java machine's instruction */

/* Returns the file's id of that function, and writes the function's line the first time. */
uint32_t inproc_lock_function(struct inproc_drain *d, struct inproc_region *g);
/* Returns a value that stands for the lock with this number: it is no address, but no other lock
 * has it. */
uint64_t inproc_lock_value(const struct inproc_drain *d, const struct inproc_region *g,
			   uint32_t number);
/* Adds a lock that the program has named. */
void inproc_lock_add(struct inproc_drain *d, struct inproc_region *g, uint32_t number,
		     const char *name);

#endif
