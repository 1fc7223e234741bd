/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The producer's side of inproc.h: each process has a region, and each thread a ring in it. */
#ifndef ISPOT_PROBES_JAVA_AGENT_RING_H
#define ISPOT_PROBES_JAVA_AGENT_RING_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "probes/inproc/inproc.h"
#include "probes/java/agent/count.h"

/* A thread's own. */
struct ring_thread {
	struct inproc_slot *slot; /* NULL: the thread has no ring */
	struct inproc_record *records;
	uint64_t size, head, tail; /* in records; tail as it was last read */
	uint32_t lost;		   /* lost records since the last one that was written */
	uint32_t depth, too_deep;
	uint32_t stacks;	/* taken */
	uint32_t base;		/* depth at which the virtual thread that it carries began */
	uint64_t wait_since_ns; /* for a monitor or a lock; 0: it does not wait */
	bool is_monitor;	/* that wait is for a monitor */
	uint64_t waited_ns;	/* for a monitor; 0: not */
	void *waited_in;	/* the method with that monitor */
	uint32_t awaits;	/* the number of what it waits for (monitor.h) */
	uint32_t slept_at;	/* hash of the object of the latest Object.wait(), … */
	uint64_t slept_ns;	/* … and when that wait ended */
	struct count_thread counts;
	uint32_t ids[INPROC_DEPTH_MAX];
	uint64_t since_ns[INPROC_DEPTH_MAX]; /* of the same calls */
};

/* Makes the region in the directory and names it. Returns NULL, or what failed as a clause. */
const char *ring_open(const char *directory, uint64_t ring_bytes);
bool ring_recording(void);
/* Returns the calling thread's state, which its first call makes, or NULL if memory is exhausted.
 */
struct ring_thread *ring_thread(void);
void ring_add(struct ring_thread *t, uint64_t time_ns, uint32_t kind, uint32_t value,
	      uint32_t depth);
/* Counts a lost record that no ring can have: of a call deeper than INPROC_DEPTH_MAX, or of a
 * thread without memory for its state. */
void ring_lose(void);
/*
 * Report what is not in records: the cost of a call, other costs, and a row of names for which
 * there was no room.
 */
void ring_costs(uint32_t pair_ns, const struct inproc_cost *cost);
void ring_costs_more(uint64_t ns);
/* Adds the CPU time since begin_ns, a time of ring_cpu_ns(), as often as times says, without the
 * cost of reading the clock. */
void ring_costs_since(uint64_t begin_ns, uint32_t times);
void ring_unnamed(void);
/* Adds a row of names. Returns false if there is no room. Only one thread at a time may call it. */
bool ring_name(uint32_t id, uint32_t kind, uint32_t line, const char *name, const char *signature,
	       const char *source);
void ring_describe(const char *vm);

static inline uint64_t ring_clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline uint64_t ring_now_ns(void)
{
	return ring_clock_ns(CLOCK_MONOTONIC);
}

/*
 * Returns the CPU time of this thread, which does not include that of others on its CPU. It makes a
 * system call.
 */
static inline uint64_t ring_cpu_ns(void)
{
	return ring_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

#endif
