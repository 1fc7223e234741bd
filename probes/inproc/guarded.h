/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Memory that is shared with a program which may make its file shorter. Reading a part that is gone
 * raises SIGBUS, which would end ispot. In a guarded mapping zeros replace the missing part for
 * good, and a flag is set: the reader continues and then gives the mapping up.
 */
#ifndef ISPOT_PROBES_INPROC_GUARDED_H
#define ISPOT_PROBES_INPROC_GUARDED_H

#include <signal.h>
#include <stddef.h>

#define GUARDED_MAX 4096 /* mappings at a time */

struct guarded {
	void *start; /* NULL: not mapped */
	size_t bytes;
	volatile sig_atomic_t torn; /* a part of the file was gone */
};

/* Maps the file to be shared, for reading and writing. *g must stay where it is until
 * guarded_unmap(). Returns 0 or -errno; -EMFILE: there are too many mappings. */
int guarded_map(struct guarded *g, int fd, size_t bytes);
void guarded_unmap(struct guarded *g); /* idempotent */

#endif
