/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Opens counters with perf_event_open(2), and tells whether this kernel, machine and user can have
 * one, and if not, why. A virtual machine often has no hardware PMU, and thus no hardware counter.
 */
#ifndef ISPOT_PMU_PERF_EVENT_H
#define ISPOT_PMU_PERF_EVENT_H

#include <stddef.h>

struct pmu_event;

/*
 * Returns a descriptor, or -errno. cpu -1: counts this thread; otherwise counts everything that
 * runs on the CPU (needs CAP_PERFMON). group is the leader's descriptor, or -1 to begin a pinned
 * group: all of its events count all of the time, or read(2) fails.
 */
int perf_event_open(const struct pmu_event *e, int cpu, int group);

/*
 * Returns 0, or the -errno of opening the event alone on this thread. The counts of tasks need not
 * be opened, only supported by the kernel.
 */
int perf_event_try(const struct pmu_event *e);
/* Returns a clause that explains the error; it is static, or written to buf of n bytes. */
const char *perf_event_why(const struct pmu_event *e, int error, char *buf, size_t n);

/* Returns /proc/sys/kernel/perf_event_paranoid, or INT32_MAX if this kernel has no perf events. */
int perf_event_paranoid(void);

#endif
