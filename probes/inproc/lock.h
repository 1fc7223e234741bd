/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The locks of in-process producers: the file has their waits as calls of a function of its own,
 * one for each program, whose argument is the lock.
 */
#ifndef ISPOT_PROBES_INPROC_LOCK_H
#define ISPOT_PROBES_INPROC_LOCK_H

#include <stdint.h>

struct inproc_drain;
struct inproc_region;

#define INPROC_TAKES_LOCK "monitorenter" /* as the Java machine's instruction is called */

/* The file's id of that function; its line is written when it is first asked for. */
uint32_t inproc_lock_function(struct inproc_drain *d, struct inproc_region *g);
/* What stands for the lock of that number: no address, but as unlike any other. */
uint64_t inproc_lock_value(const struct inproc_drain *d, const struct inproc_region *g,
			   uint32_t number);
/* The program has named one. */
void inproc_lock_add(struct inproc_drain *d, struct inproc_region *g, uint32_t number,
		     const char *name);

#endif
