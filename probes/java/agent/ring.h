/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The producer's side of inproc.h: one region a process, one ring a thread. */
#ifndef ISPOT_PROBES_JAVA_AGENT_RING_H
#define ISPOT_PROBES_JAVA_AGENT_RING_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "probes/inproc/inproc.h"
#include "probes/java/agent/count.h"

/* A thread's own. */
struct ring_thread {
	struct inproc_slot *slot; /* NULL: there was no ring for it */
	struct inproc_record *records;
	uint64_t size, head, tail; /* records; tail: as last seen */
	uint32_t lost;		   /* records since the latest one that was written */
	uint32_t depth, too_deep;
	uint32_t stacks;		   /* taken */
	uint32_t base;			   /* depth at which what the thread carries began */
	uint64_t wait_since_ns, waited_ns; /* for a monitor; 0: not */
	void *waited_in;		   /* the method whose monitor that was */
	uint32_t awaits;		   /* the number of that monitor (monitor.h) */
	uint32_t slept_at;		   /* where Object.wait() was called last: its hash, */
	uint64_t slept_ns;		   /* and when that ended */
	struct count_thread counts;
	uint32_t ids[INPROC_DEPTH_MAX];
	uint64_t since_ns[INPROC_DEPTH_MAX]; /* of the same calls */
};

/* Makes the region in the directory and gives it its name. NULL, or what failed. */
const char *ring_open(const char *directory, uint64_t ring_bytes);
bool ring_recording(void);
/* Made when a thread first asks; NULL: there is no memory. */
struct ring_thread *ring_thread(void);
void ring_add(struct ring_thread *t, uint64_t time_ns, uint32_t kind, uint32_t value,
	      uint32_t depth);
/*
 * Values that the agent tells outside of records: the cost of a call, other costs, and a row of
 * names that found no room.
 */
void ring_costs(uint32_t pair_ns, const struct inproc_cost *cost);
void ring_costs_more(uint64_t ns);
/* By ring_cpu_ns(): since then, so many times; what asking the time costs is not in it. */
void ring_costs_since(uint64_t begin_ns, uint32_t times);
void ring_unnamed(void);
/* A row of names. False: there is no room. Called by one thread at a time. */
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
 * Returns the CPU time of this thread: the time of others on its CPU is no part of its cost. A
 * system call.
 */
static inline uint64_t ring_cpu_ns(void)
{
	return ring_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

#endif
