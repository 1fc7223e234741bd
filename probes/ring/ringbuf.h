/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The rings that the BPF programs write into: one BPF ring buffer per CPU (kernel >= 5.8), so that
 * CPUs share no lock. They are mapped as perf's rings are, but a record costs about 31 ns there,
 * where bpf_perf_event_output() into a perf ring takes 174 (`make bench PARTS=ring`). Reading
 * allocates nothing.
 */
#ifndef ISPOT_PROBES_RING_RINGBUF_H
#define ISPOT_PROBES_RING_RINGBUF_H

#include <stddef.h>
#include <stdint.h>

struct bpfprog;
struct cpus;
struct err;

struct ringbuf {
	uint32_t cpu;
	int fd; /* -1: not open */
	size_t bytes;
	void *consumer;	      /* page with the reader's position; NULL: not mapped */
	const void *producer; /* page with the writers' position, then the data, twice in a row */
};

struct ringbufs {
	struct ringbuf *rings;
	uint32_t n;
	int epoll_fd; /* readable when a ring has filled by an eighth; -1: not open */
	struct bpfprog *programs;
	size_t bytes; /* of each */
};

/* bytes per CPU: a power of two that ringbuf_bytes() gave, and that the programs were loaded with.
 * -ENOMEM, -EPERM name the locked memory. */
int ringbufs_open(struct ringbufs *r, struct bpfprog *b, const struct cpus *cpus, size_t bytes,
		  struct err *err);
/* Adds the ring of a CPU that came online since. 0 or -errno. */
int ringbufs_add(struct ringbufs *r, uint32_t cpu);
void ringbufs_release(struct ringbufs *r);
/* Rounded up to what the kernel takes. */
size_t ringbuf_bytes(size_t bytes);

/* Every record that is complete, oldest first; returns how many bytes were read. */
typedef void (*ringbuf_visit)(void *ctx, uint32_t cpu, const void *record);
size_t ringbuf_drain(struct ringbuf *r, ringbuf_visit visit, void *ctx);
/* The same of records up to until_ns; all begin with a struct wire_head. */
size_t ringbuf_drain_until(struct ringbuf *r, uint64_t until_ns, ringbuf_visit visit, void *ctx);
/* Time of the next one; UINT64_MAX: none is complete. */
uint64_t ringbuf_next_ns(const struct ringbuf *r);
/* After poll() said that epoll_fd is readable: it no longer is. */
void ringbufs_heard(struct ringbufs *r);

#endif
