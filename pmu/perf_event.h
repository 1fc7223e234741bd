/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * perf_event_open(2) for counters: whether this kernel, machine and user can have one, and why
 * not. A virtual machine often has no hardware PMU, and then none of the hardware counters.
 */
#ifndef ISPOT_PMU_PERF_EVENT_H
#define ISPOT_PMU_PERF_EVENT_H

#include <stddef.h>

struct pmu_event;

/*
 * A descriptor, or -errno. cpu -1: on this thread, else everything that runs on the CPU (needs
 * CAP_PERFMON). group: the leader's descriptor, -1: a group of its own, which is pinned: all of it
 * counts all of the time, or it ends in an error that read(2) tells.
 */
int perf_event_open(const struct pmu_event *e, int cpu, int group);

/* 0, or the -errno of opening it alone on this thread. The task's own numbers are always there. */
int perf_event_try(const struct pmu_event *e);
/* A clause for why that failed; static or into buf of n bytes. */
const char *perf_event_why(const struct pmu_event *e, int error, char *buf, size_t n);

/* /proc/sys/kernel/perf_event_paranoid; INT32_MAX: this kernel has no perf events. */
int perf_event_paranoid(void);

#endif
