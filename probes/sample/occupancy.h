/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which process ran on which CPU, and when, from the kernel's records of context switches on every
 * CPU (perf_event_open(2), attr.context_switch). They need no hardware counter. Times are
 * CLOCK_MONOTONIC.
 */
#ifndef ISPOT_PROBES_SAMPLE_OCCUPANCY_H
#define ISPOT_PROBES_SAMPLE_OCCUPANCY_H

#include <stdint.h>
#include <sys/types.h>

#include "probes/ring/ring.h"

struct cpus;
struct err;

struct occupancy_cpu {
	pid_t pid; /* the process on the CPU; 0: idle, -1: unknown */
	uint64_t since_ns;
};

struct occupancy {
	struct rings rings;
	struct occupancy_cpu *cpus; /* in the order of rings */
	/* records dropped so far; the time around them is not reported */
	uint64_t lost;
	uint64_t lost_before; /* those of them before the rings were opened */
	uint64_t records;     /* records that the kernel wrote so far */
};

struct occupancy_visitor {
	void *self;
	void (*ran)(void *self, uint32_t cpu, pid_t pid, uint64_t start_ns, uint64_t end_ns);
	void (*begins)(void *self, pid_t pid); /* a process starts, or runs another program */
};

int occupancy_open(struct occupancy *o, const struct cpus *cpus, struct err *err);
/* Visits the changes since the last reading, in order for each CPU, one CPU after the other. */
void occupancy_read(struct occupancy *o, const struct occupancy_visitor *v);
/*
 * Visits, after a reading, the processes that are on a CPU as having run until now_ns, and
 * continues from there.
 */
void occupancy_end(struct occupancy *o, uint64_t now_ns, const struct occupancy_visitor *v);
void occupancy_release(struct occupancy *o); /* keeps lost and records */

#endif
