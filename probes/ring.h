/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The per-CPU perf mmap rings that the BPF programs write into (PERF_COUNT_SW_BPF_OUTPUT, one
 * event per CPU) and that other CPU-wide events may share (perf_event_open(2), "MMAP layout").
 * Reading allocates nothing.
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

/* bytes per CPU, rounded up to a power of two of pages. -ENOMEM names RLIMIT_MEMLOCK, -EMFILE
 * RLIMIT_NOFILE. */
int rings_open(struct rings *r, const struct cpus *cpus, size_t bytes, struct err *err);
void rings_release(struct rings *r);

/* Maps the ring of an event that is open as r->fd; the caller enables it. bytes: a power of two of
 * pages. */
int ring_map(struct ring *r, size_t bytes, struct err *err);
/* Lets another event of the same CPU write into this ring. 0 or -errno. */
int ring_share(const struct ring *r, int fd);

/* Every record that is complete, oldest first; returns how many bytes were read. */
typedef void (*ring_visit)(void *ctx, const struct ring *r, const struct perf_event_header *record);
size_t ring_drain(struct ring *r, ring_visit visit, void *ctx);

#endif
