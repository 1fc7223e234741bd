/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rings whose records commit themselves and are stamped by the cycle counter (inproc.h): what the
 * stubs of probes/inject write, and drain.h reads in its runs.
 */
#ifndef ISPOT_PROBES_INPROC_STAMPED_H
#define ISPOT_PROBES_INPROC_STAMPED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct inproc_drain;
struct inproc_region;

/*
 * Before the first run: a region that the recorder has made in a process (probes/inject), fd is its
 * file. Its records have the file's ids, below n_functions, and are stamped by the cycle counter.
 * is_sampled: it has rows, as threads record one call in several. -errno
 */
int inproc_drain_add_stamped(struct inproc_drain *d, int fd, pid_t pid, uint64_t ring_bytes,
			     uint32_t n_functions, bool is_sampled);
/* Some process of the region makes no system call any more that its rules do not allow: threads
 * that have no ring get none, and their records are counted. */
void inproc_stamped_seal(struct inproc_region *g);

/* ---- parts of a run ---- */

/* Its time, which what is read is older than. */
void inproc_stamped_begin(struct inproc_drain *d);
/* A part of what is there was read: true: another one is to be. */
bool inproc_stamped_goes_on(struct inproc_drain *d);
/* What a ring has goes into d->taken. */
void inproc_stamped_take(struct inproc_drain *d, uint32_t region, uint32_t slot);
/* Which threads live, every now and then. */
void inproc_stamped_look(struct inproc_drain *d);
/* Calls of its thread that were not recorded become records of it, and its rows are set to 0. */
void inproc_stamped_tell_calls(struct inproc_drain *d, struct inproc_region *g, uint32_t slot,
			       uint64_t time_ns);
/* The thread is gone, and its ring is read. */
bool inproc_stamped_is_over(const struct inproc_region *g, uint32_t slot);

#endif
