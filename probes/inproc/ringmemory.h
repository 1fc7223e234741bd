/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The memory of stamped rings. A ring gets memory as its thread fills it for the first time, and a
 * program may have thousands of threads. So the recorder gives memory back to the system: that of a
 * ring whose thread has ended and that no other thread has claimed for a while, and, once all rings
 * together have more than a limit, that of records as soon as they are read.
 */
#ifndef ISPOT_PROBES_INPROC_RINGMEMORY_H
#define ISPOT_PROBES_INPROC_RINGMEMORY_H

#include <stdint.h>

struct inproc_drain;
struct inproc_region;

/*
 * Called when the records from `before` to the slot's seen->at are read, and its thread does not
 * know that yet. Returns the tail for the thread. In a ring that gives back its memory that is the
 * beginning of a page, so that the thread does not write into the pages before it.
 */
uint64_t ringmemory_after_read(struct inproc_drain *d, struct inproc_region *g, uint32_t slot,
			       uint64_t before);
/* Called before the slot of a thread that has ended becomes free. */
void ringmemory_end_thread(struct inproc_drain *d, struct inproc_region *g, uint32_t slot);
/* Called when the region is given up. */
void ringmemory_forget(struct inproc_drain *d, const struct inproc_region *g);
/* Gives back the memory of rings that have been free for a while. */
void ringmemory_check(struct inproc_drain *d, struct inproc_region *g);

#endif
