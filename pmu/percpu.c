/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pmu/percpu.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cpus.h"
#include "base/err.h"
#include "base/mem.h"
#include "pmu/group.h"
#include "pmu/perf_event.h"

int pmu_percpu_fd(const struct pmu_percpu *p, size_t cpu, size_t event)
{
	return p->fds[cpu * p->n_events + event];
}

static int open_error(const struct pmu_event *e, int error, uint32_t cpu, struct err *err)
{
	char buf[120];

	return err_set(err, error, "cannot count %s on CPU %u: %s; leave it out of -e", e->name,
		       cpu, perf_event_why(e, error, buf, sizeof(buf)));
}

static int open_events(int *fds, const struct pmu_list *list, uint32_t cpu, struct err *err)
{
	uint64_t values[3];
	int leader = -1;

	for (unsigned i = 0; i < list->n; i++) {
		const struct pmu_event *e = &list->events[i];

		if (e->source == PMU_TASK)
			continue;
		fds[i] = perf_event_open(e, (int)cpu, e->source == PMU_HARDWARE ? leader : -1);
		if (fds[i] < 0)
			return open_error(e, fds[i], cpu, err);
		if (e->source == PMU_HARDWARE && leader < 0)
			leader = fds[i];
	}
	if (leader >= 0 && read(leader, values, sizeof(values)) != sizeof(values))
		return open_error(&list->events[0], -EBUSY, cpu, err);
	return 0;
}

static void close_cpu(struct pmu_percpu *p, size_t index)
{
	int *fds = p->fds + index * p->n_events;

	for (size_t i = 0; i < p->n_events; i++) {
		if (fds[i] >= 0)
			close(fds[i]);
		fds[i] = -1;
	}
}

static int open_cpu(struct pmu_percpu *p, size_t index, const struct pmu_list *list, uint32_t cpu,
		    struct err *err)
{
	struct err why = { 0 };
	int ret = open_events(p->fds + index * p->n_events, list, cpu, &why);

	if (!ret)
		return 0;
	close_cpu(p, index);
	if (cpus_has_gone(cpu))
		return 0;
	*err = why;
	return ret;
}

int pmu_percpu_open(struct pmu_percpu *p, const struct pmu_list *list, const uint16_t *cpus,
		    size_t n_cpus, struct err *err)
{
	int ret = 0;

	*p = (struct pmu_percpu){ .n_cpus = n_cpus, .n_events = list->n };
	p->fds = xmalloc((n_cpus * list->n + 1) * sizeof(*p->fds));
	for (size_t i = 0; i < n_cpus * list->n; i++)
		p->fds[i] = -1;
	for (size_t i = 0; i < n_cpus && !ret; i++)
		ret = open_cpu(p, i, list, cpus[i], err);
	if (ret)
		pmu_percpu_release(p);
	return ret;
}

void pmu_percpu_release(struct pmu_percpu *p)
{
	for (size_t cpu = 0; p->fds && cpu < p->n_cpus; cpu++)
		close_cpu(p, cpu);
	free(p->fds);
	*p = (struct pmu_percpu){ 0 };
}
