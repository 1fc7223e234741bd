/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Per-CPU perf mmap rings (perf_event_open(2), "MMAP layout"): of the kernel's own CPU-wide events,
 * samples and mappings. (BPF programs write into ringbuf.h's.) Reading allocates nothing.
 */
#ifndef ISPOT_PROBES_RING_H
#define ISPOT_PROBES_RING_H

#include <stddef.h>
#include <stdint.h>

struct cpus;
struct err;
struct perf_event_header;

struct ring {
	uint32_t cpu;
	int fd;	   /* -1: not open */
	void *map; /* control page, then data_bytes of data; NULL: not mapped */
	size_t data_bytes;
	void *bounce; /* a record that wraps around the end is put together here: RING_RECORD_MAX */
};

#define RING_RECORD_MAX 65536

struct rings {
	struct ring *rings;
	uint32_t n;
};

/* bytes per CPU: a power of two of pages; open_event returns a descriptor, or -1 and errno. -ENOMEM
 * names RLIMIT_MEMLOCK, -EMFILE RLIMIT_NOFILE. */
int rings_open(struct rings *r, const struct cpus *cpus, size_t bytes,
	       int (*open_event)(uint32_t cpu), struct err *err);
void rings_release(struct rings *r);

/* Maps the ring of an event that is open as r->fd; the caller enables it. bytes: a power of two of
 * pages. */
int ring_map(struct ring *r, size_t bytes, struct err *err);

/* Every record that is complete, oldest first; returns how many bytes were read. */
typedef void (*ring_visit)(void *ctx, const struct ring *r, const struct perf_event_header *record);
size_t ring_drain(struct ring *r, ring_visit visit, void *ctx);

#endif
