/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Samples the instructions of every CPU: a sample comes after each period of instructions. It has
 * the cycles that the instructions took and the thread that ran at its end (perf_event_open(2), one
 * sampled group of instructions and cycles for each CPU). The group may have further events, which
 * count what happened in the same stretch. Times are CLOCK_MONOTONIC. The cycle counter stands
 * still while a CPU is idle.
 */
#ifndef ISPOT_PROBES_SAMPLE_IPC_H
#define ISPOT_PROBES_SAMPLE_IPC_H

#include <stdint.h>
#include <sys/types.h>

#include "probes/ring/ring.h"

struct cpus;
struct err;

#define IPC_EVENTS 6 /* besides instructions and cycles */

struct ipc_cpu {
	int fds[1 + IPC_EVENTS];		 /* of the cycles and the events; -1: none */
	uint64_t since_ns, instructions, cycles; /* at the previous sample; 0: there is none */
	uint64_t events[IPC_EVENTS];
};

struct ipc {
	struct rings rings;
	struct ipc_cpu *cpus;		/* in the order of the rings */
	const char *events[IPC_EVENTS]; /* their names, set before ipc_open() */
	uint32_t n_events;
	uint64_t samples;     /* read so far */
	uint64_t lost;	      /* samples that the kernel dropped so far */
	uint64_t throttled;   /* how often so far the kernel stopped counting until its next tick */
	uint64_t lost_before; /* of the lost samples, those before ipc_open() */
};

struct ipc_sample {
	uint32_t cpu;
	pid_t pid;
	uint64_t start_ns, end_ns, instructions, cycles;
	uint64_t events[IPC_EVENTS]; /* how often each event happened */
};

/* Returns 0 if this machine can count the events, or an error with the reason and what to do. */
int ipc_try(const struct ipc *ipc, struct err *err);
/* Returns -EBUSY if other programs have the counters. */
int ipc_open(struct ipc *ipc, const struct cpus *cpus, uint64_t period, struct err *err);
/* Visits the samples since the previous call: one CPU after the other, each in order of time. */
void ipc_read(struct ipc *ipc, void (*visit)(void *self, const struct ipc_sample *s), void *self);
void ipc_release(struct ipc *ipc); /* keeps the numbers of samples and of lost ones */

#endif
