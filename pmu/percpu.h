/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A list's perf events, opened on CPUs: the hardware events of a CPU are one pinned group, so that
 * they count together and always. The task's own numbers need no descriptor. Needs CAP_PERFMON.
 */
#ifndef ISPOT_PMU_PERCPU_H
#define ISPOT_PMU_PERCPU_H

#include <stddef.h>
#include <stdint.h>

struct err;
struct pmu_list;

struct pmu_percpu {
	int *fds; /* [cpu * n_events + event]; -1: none */
	size_t n_cpus, n_events;
};

/* cpus: their numbers; one that has gone since they were listed has no descriptors. -EBUSY: the
 * group does not count on one of them; or -errno. */
int pmu_percpu_open(struct pmu_percpu *p, const struct pmu_list *list, const uint16_t *cpus,
		    size_t n_cpus, struct err *err);
int pmu_percpu_fd(const struct pmu_percpu *p, size_t cpu, size_t event); /* cpu: index in cpus */
void pmu_percpu_release(struct pmu_percpu *p);

#endif
