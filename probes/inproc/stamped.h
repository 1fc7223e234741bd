/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rings whose records commit themselves and are stamped by the cycle counter (inproc.h). The stubs
 * of probes/inject write them, and drain.h reads them in its runs. */
#ifndef ISPOT_PROBES_INPROC_STAMPED_H
#define ISPOT_PROBES_INPROC_STAMPED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct inproc_drain;
struct inproc_region;

/*
 * Adds a region that the recorder has made in a process (probes/inject); called before the first
 * run. fd is the region's file. Its records have the file's ids, which are below n_functions, and
 * are stamped by the cycle counter. is_sampled: the region has rows, as threads record one call in
 * several. Returns 0 or -errno.
 */
int inproc_drain_add_stamped(struct inproc_drain *d, int fd, pid_t pid, uint64_t ring_bytes,
			     uint32_t n_functions, bool is_sampled);
/* Called if some process of the region can make no more system calls that its rules do not allow
 * (seccomp). Threads without a ring then get none, and their records are counted. */
void inproc_stamped_seal(struct inproc_region *g);

/* Returns whether threads pass calls of the function, as they found their rings full again and
 * again. */
bool inproc_stamped_passes(const struct inproc_drain *d, uint32_t id);

/* ---- parts of a run ---- */

/* Begins a run, which reads the records that are older than now. */
void inproc_stamped_begin(struct inproc_drain *d);
/* Called once a slice is read. Returns true if the run has another slice. */
bool inproc_stamped_goes_on(struct inproc_drain *d);
/* Reads the records of a ring in this slice into d->slice. */
void inproc_stamped_read(struct inproc_drain *d, uint32_t region, uint32_t slot);
/* Checks which threads live, if the last check is long ago. */
void inproc_stamped_check_threads(struct inproc_drain *d);
/* Writes how many calls of the slot's thread were not recorded, and sets its rows to 0. */
void inproc_stamped_write_calls(struct inproc_drain *d, struct inproc_region *g, uint32_t slot,
				uint64_t time_ns);
/* Called after the last run. Counts the records as lost that are left in the ring behind a missing
 * one. Those that are newer than the last run do not belong to the recording. */
void inproc_stamped_write_left(struct inproc_drain *d, struct inproc_region *g, uint32_t slot);
/* Returns whether the slot's thread has ended, and its ring is read. */
bool inproc_stamped_is_over(const struct inproc_region *g, uint32_t slot);

#endif
