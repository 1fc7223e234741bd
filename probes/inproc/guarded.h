/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Memory that is shared with a program which may make its file shorter: reading what is gone is a
 * SIGBUS, which would end ispot. In a guarded mapping the missing part is replaced by zeros, for
 * good, and a flag says so: the reader goes on and then gives the mapping up.
 */
#ifndef ISPOT_PROBES_INPROC_GUARDED_H
#define ISPOT_PROBES_INPROC_GUARDED_H

#include <signal.h>
#include <stddef.h>

#define GUARDED_MAX 4096 /* at a time */

struct guarded {
	void *start; /* NULL: not mapped */
	size_t bytes;
	volatile sig_atomic_t torn; /* a part of it was gone */
};

/* Shared, to be read and written. *g must stay where it is until guarded_unmap(). -errno; -EMFILE:
 * there are too many. */
int guarded_map(struct guarded *g, int fd, size_t bytes);
void guarded_unmap(struct guarded *g); /* idempotent */

#endif
