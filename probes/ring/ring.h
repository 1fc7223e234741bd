/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Per-CPU perf mmap rings (perf_event_open(2), "MMAP layout"): of the kernel's own CPU-wide events,
 * samples and mappings. (BPF programs write into ringbuf.h's.) Reading allocates nothing.
 */
#ifndef ISPOT_PROBES_RING_RING_H
#define ISPOT_PROBES_RING_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct cpus;
struct err;
struct perf_event_attr;
struct perf_event_header;

struct ring {
	uint32_t cpu;
	int fd;	   /* -1: not open */
	void *map; /* control page, then data_bytes of data; NULL: not mapped */
	size_t data_bytes;
	void *bounce; /* a record that wraps around the end is put together here: RING_RECORD_MAX */
	unsigned lost_at;    /* of the values read of it, what was lost; 0: nobody counts that */
	bool filled;	     /* by half, at least, since rings_lost() asked */
	uint64_t told_lost;  /* records, by what was read of the ring */
	uint64_t known_lost; /* by the kernel's count, when it was asked last */
};

#define RING_RECORD_MAX 65536
#define RING_READ_LOST	(1u << 4) /* PERF_FORMAT_LOST, since Linux 6.0 */

struct rings {
	struct ring *rings;
	uint32_t n;
};

/* The event on every CPU; its times are CLOCK_MONOTONIC. bytes per CPU: a power of two of pages.
 * A CPU that has gone since it was listed has none: fd -1.
 * Its read_format is 0, or PERF_FORMAT_GROUP, in whose samples a count of losses may then follow
 * each value: see lost_at.
 * -ENOMEM names RLIMIT_MEMLOCK, -EMFILE RLIMIT_NOFILE. */
int rings_open(struct rings *r, const struct cpus *cpus, size_t bytes,
	       const struct perf_event_attr *event, struct err *err);
/*
 * Opens the rings on one process, and on the children that inherit the event. pid -1: on
 * everything.
 */
int rings_open_on(struct rings *r, const struct cpus *cpus, size_t bytes,
		  const struct perf_event_attr *event, pid_t pid, struct err *err);
void rings_release(struct rings *r);

/* Every record that is complete, oldest first; returns how many bytes were read. */
typedef void (*ring_visit)(void *ctx, const struct ring *r, const struct perf_event_header *record);
size_t ring_drain(struct ring *r, ring_visit visit, void *ctx);
/*
 * After ring_drain(): records that found no room so far, the last ones, too, after which no record
 * came that tells of them (before Linux 6.0 only those that were told of).
 */
uint64_t ring_lost(struct ring *r);
uint64_t rings_lost(struct rings *r);

#endif
