/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which process had which CPU, and when: the kernel's records of context switches on every CPU
 * (perf_event_open(2), attr.context_switch), which need no counter. Times are CLOCK_MONOTONIC.
 */
#ifndef ISPOT_PROBES_SAMPLE_OCCUPANCY_H
#define ISPOT_PROBES_SAMPLE_OCCUPANCY_H

#include <stdint.h>
#include <sys/types.h>

#include "probes/ring/ring.h"

struct cpus;
struct err;

struct occupancy_cpu {
	pid_t pid; /* that has it; 0: idle, -1: not known */
	uint64_t since_ns;
};

struct occupancy {
	struct rings rings;
	struct occupancy_cpu *cpus; /* as rings */
	uint64_t lost;		    /* records, so far; what ran around them is not told */
	uint64_t lost_before;	    /* of them, before it was opened */
	uint64_t records;	    /* that the kernel wrote, so far */
};

struct occupancy_visitor {
	void *self;
	void (*ran)(void *self, uint32_t cpu, pid_t pid, uint64_t start_ns, uint64_t end_ns);
	void (*begins)(void *self, pid_t pid); /* a process, or another program in it */
};

int occupancy_open(struct occupancy *o, const struct cpus *cpus, struct err *err);
/* Visits the changes since the last time: of each CPU in order, one CPU after the other. */
void occupancy_read(struct occupancy *o, const struct occupancy_visitor *v);
/* After a reading: who has a CPU has had it until now_ns, and goes on from there. */
void occupancy_end(struct occupancy *o, uint64_t now_ns, const struct occupancy_visitor *v);
void occupancy_release(struct occupancy *o); /* lost and records stay */

#endif
