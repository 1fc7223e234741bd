/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The perf events of a list, opened on CPUs. The hardware events of a CPU form one pinned group, so
 * that they count together and always. The counts of tasks need no descriptor. Needs CAP_PERFMON.
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

/*
 * Opens the events on CPUs, given by their numbers. A CPU that has gone offline since they were
 * listed gets no descriptors. -EBUSY: the group does not count on some CPU; or another -errno.
 */
int pmu_percpu_open(struct pmu_percpu *p, const struct pmu_list *list, const uint16_t *cpus,
		    size_t n_cpus, struct err *err);
int pmu_percpu_fd(const struct pmu_percpu *p, size_t cpu, size_t event); /* cpu: index in cpus */
void pmu_percpu_release(struct pmu_percpu *p);

#endif
