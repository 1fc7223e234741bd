/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Samples of every CPU's instructions: one after so many of them, with the cycles that they took
 * and whose they were last (perf_event_open(2), a sampled group of instructions and cycles a CPU).
 * Times are CLOCK_MONOTONIC. Cycles do not count while a CPU is idle. Other events may be in the
 * group: what happened in the same stretch.
 */
#ifndef ISPOT_PROBES_SAMPLE_IPC_H
#define ISPOT_PROBES_SAMPLE_IPC_H

#include <stdint.h>
#include <sys/types.h>

#include "probes/ring/ring.h"

struct cpus;
struct err;

#define IPC_EVENTS 6 /* further ones */

struct ipc_cpu {
	int fds[1 + IPC_EVENTS];		 /* cycles, events; -1: none */
	uint64_t since_ns, instructions, cycles; /* at the sample before; 0: there is none */
	uint64_t events[IPC_EVENTS];
};

struct ipc {
	struct rings rings;
	struct ipc_cpu *cpus;		/* as rings */
	const char *events[IPC_EVENTS]; /* names, set before it is opened */
	uint32_t n_events;
	uint64_t samples;   /* taken, so far */
	uint64_t lost;	    /* samples, so far */
	uint64_t throttled; /* times that the kernel stopped to count until its next tick, so far */
	uint64_t lost_before; /* of them, before it was opened */
};

struct ipc_sample {
	uint32_t cpu;
	pid_t pid;
	uint64_t start_ns, end_ns, instructions, cycles;
	uint64_t events[IPC_EVENTS]; /* how often each happened */
};

/* 0: it can be measured here. Else why not, and what to do. */
int ipc_try(const struct ipc *ipc, struct err *err);
/* -EBUSY: others have the counters. */
int ipc_open(struct ipc *ipc, const struct cpus *cpus, uint64_t period, struct err *err);
/* Visits the samples since the last time: of each CPU in order, one CPU after the other. */
void ipc_read(struct ipc *ipc, void (*visit)(void *self, const struct ipc_sample *s), void *self);
void ipc_release(struct ipc *ipc); /* samples and lost stay */

#endif
