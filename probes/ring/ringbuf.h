/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The rings that the BPF programs write into: one BPF ring buffer per CPU (kernel >= 5.8), so that
 * CPUs share no lock. They are mapped like perf's rings, but a record costs about 31 ns, where
 * bpf_perf_event_output() into a perf ring takes 174 (`make bench PARTS=ring`). Reading allocates
 * nothing.
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
	const void *producer; /* page with the writers' position, then the data, mapped twice */
};

struct ringbufs {
	struct ringbuf *rings;
	uint32_t n;
	int epoll_fd; /* readable when an eighth of a ring was filled; -1: not open */
	struct bpfprog *programs;
	size_t bytes; /* size of each ring */
};

/*
 * Opens a ring on each CPU. bytes is the size per CPU: a power of two from ringbuf_bytes(), with
 * which the programs were loaded. -ENOMEM and -EPERM name the locked memory.
 */
int ringbufs_open(struct ringbufs *r, struct bpfprog *b, const struct cpus *cpus, size_t bytes,
		  struct err *err);
/* Adds the ring of a CPU that came online later. Returns 0 or -errno. */
int ringbufs_add(struct ringbufs *r, uint32_t cpu);
void ringbufs_release(struct ringbufs *r);
/* Returns bytes rounded up to a size that the kernel accepts. */
size_t ringbuf_bytes(size_t bytes);

/* Calls visit for every complete record, oldest first. Returns how many bytes were read. */
typedef void (*ringbuf_visit)(void *ctx, uint32_t cpu, const void *record);
size_t ringbuf_drain(struct ringbuf *r, ringbuf_visit visit, void *ctx);
/* The same for records up to until_ns; all begin with a struct wire_head. */
size_t ringbuf_drain_until(struct ringbuf *r, uint64_t until_ns, ringbuf_visit visit, void *ctx);
/* Returns the time of the next record, or UINT64_MAX if none is complete. */
uint64_t ringbuf_next_ns(const struct ringbuf *r);
/* Call it after poll() reported epoll_fd as readable: clears that state. */
void ringbufs_heard(struct ringbufs *r);

#endif
