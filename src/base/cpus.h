/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The machine's CPUs, from sysfs and the scheduler. */
#ifndef ISPOT_BASE_CPUS_H
#define ISPOT_BASE_CPUS_H

#include <stdbool.h>
#include <stdint.h>

#define CPUS_MAX 4096

struct cpus {
	uint32_t n;	     /* online CPUs */
	uint32_t n_possible; /* highest possible number + 1: size of per-CPU tables */
	uint16_t online[CPUS_MAX];
};

int cpus_read(struct cpus *cpus); /* 0 or -errno */
/* Whether the CPU is online. */
bool cpus_has(const struct cpus *cpus, uint32_t cpu);
bool cpus_same(const struct cpus *a, const struct cpus *b);

/*
 * The time of all CPUs since the machine started: busy, and the part of the busy time in which the
 * hypervisor ran other machines. 0: unknown. The kernel counts in steps of some ms.
 */
struct cpus_time {
	uint64_t busy_ns, steal_ns;
};
struct cpus_time cpus_time(void);

/* Whether a CPU that cpus_read() listed has gone offline since. */
bool cpus_has_gone(uint32_t cpu);

/*
 * cpus_visit() lets the calling thread run on that CPU alone, or returns false if it may not.
 * cpus_own() returns the CPUs that it may use now, for cpus_return(), which frees them; NULL: they
 * are unknown, and cpus_return() does nothing.
 */
struct cpus_own *cpus_own(void);
bool cpus_visit(uint32_t cpu);
void cpus_return(struct cpus_own *own);

#endif
