/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The generic perf counters, and which of them this kernel, machine and user can have: each is
 * tried with perf_event_open(2) on the calling thread. A virtual machine often has no hardware
 * PMU, and then none of the hardware counters.
 */
#ifndef ISPOT_PMU_COUNTERS_H
#define ISPOT_PMU_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct counter {
	const char *name; /* as perf calls it: "cycles" */
	uint32_t type;	  /* PERF_TYPE_* */
	uint64_t config;
};

size_t counters_all(const struct counter **counters); /* software first */
const char *counter_kind(const struct counter *c);    /* "software" "hardware" "cache" */

/* 0, or the -errno of opening it on this thread, user mode only, without a group. */
int counter_try(const struct counter *c);
/* A clause for why counter_try() failed; static or into buf of n bytes. */
const char *counter_why(const struct counter *c, int error, char *buf, size_t n);

/* The core PMU's name in sysfs ("cpu", "armv8_pmuv3_0"), "none" without one. */
const char *counters_pmu(char *buf, size_t n);
/* /proc/sys/kernel/perf_event_paranoid; INT32_MAX: this kernel has no perf events. */
int counters_paranoid(void);

#endif
