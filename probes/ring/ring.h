/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Per-CPU perf mmap rings (perf_event_open(2), "MMAP layout") of the kernel's CPU-wide events,
 * samples and mappings. (BPF programs write into the rings of ringbuf.h.) Reading allocates
 * nothing.
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
	void *bounce;	  /* RING_RECORD_MAX bytes for a record that wraps around the end */
	unsigned lost_at; /* index of the count of losses among the values read; 0: the kernel does
			     not count them */
	bool filled;	  /* at least by half since ring_lost() asked */
	uint64_t told_lost;  /* records reported as lost in the ring */
	uint64_t known_lost; /* the kernel's count when it was last asked */
};

#define RING_RECORD_MAX 65536
#define RING_READ_LOST	(1u << 4) /* PERF_FORMAT_LOST, since Linux 6.0 */

struct rings {
	struct ring *rings;
	uint32_t n;
};

/*
 * Opens the event on every CPU; its times are CLOCK_MONOTONIC. bytes is the size per CPU, a power
 * of two of pages. A CPU that went offline since it was listed has no ring: fd is -1. The event's
 * read_format is 0 or PERF_FORMAT_GROUP; in samples of the latter, a count of losses may follow
 * each value (lost_at). -ENOMEM names RLIMIT_MEMLOCK, -EMFILE RLIMIT_NOFILE.
 */
int rings_open(struct rings *r, const struct cpus *cpus, size_t bytes,
	       const struct perf_event_attr *event, struct err *err);
/*
 * Opens the rings on one process and on the children that inherit the event. pid -1: on everything.
 */
int rings_open_on(struct rings *r, const struct cpus *cpus, size_t bytes,
		  const struct perf_event_attr *event, pid_t pid, struct err *err);
void rings_release(struct rings *r);

/* Calls visit for every complete record, oldest first. Returns how many bytes were read. */
typedef void (*ring_visit)(void *ctx, const struct ring *r, const struct perf_event_header *record);
size_t ring_drain(struct ring *r, ring_visit visit, void *ctx);
/*
 * Call these after ring_drain(). They return the number of records that found no room so far,
 * including the last ones, which no record in the ring has reported yet (before Linux 6.0, only the
 * reported ones).
 */
uint64_t ring_lost(struct ring *r);
uint64_t rings_lost(struct rings *r);

#endif
