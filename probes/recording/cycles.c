/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/recording/cycles.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cpus.h"
#include "base/err.h"
#include "pmu/event.h"
#include "pmu/group.h"
#include "probes/kernel/bpfprog.h"
#include "trace/meta/meta.h"
#include "trace/meta/print.h"

/* the narrowest of these readings counts, so that an interrupt does no harm */
#define BASE_TRIES 64

static int refuse(const char *why, struct err *err)
{
	err_set(err, -ENOTSUP, "-k tsc: %s; leave it out, and see ispot report --unit cycles", why);
	return -ENOTSUP;
}

int cycles_open(struct pmu_percpu *events, const struct cpus *cpus, struct err *err)
{
	struct pmu_list list = { .n = 1 };
	const char *unstable = clock_cycles_unstable();
	struct err why = { 0 };

	if (unstable)
		return refuse(unstable, err);
	if (pmu_event_parse(list.events, "msr/tsc/", &why))
		return refuse("this kernel has no event of the cycle counter (msr/tsc/)", err);
	if (pmu_percpu_open(events, &list, cpus->online, cpus->n, &why))
		return refuse("its event (msr/tsc/) does not count here", err);
	return 0;
}

/* Returns the TSC at the time when the event began, or 0 if the event cannot be read. */
static uint64_t base_of(int fd)
{
	uint64_t best = 0, width = UINT64_MAX, values[3];

	for (int i = 0; i < BASE_TRIES; i++) {
		uint64_t before = clock_cycles(), after;

		if (read(fd, values, sizeof(values)) != sizeof(values))
			return 0;
		after = clock_cycles();
		if (after - before >= width)
			continue;
		width = after - before;
		best = before + width / 2 - values[0];
	}
	return best;
}

int cycles_connect(const struct pmu_percpu *events, const struct cpus *cpus, struct bpfprog *b,
		   struct err *err)
{
	struct cpus_own *own = cpus_own();
	int ret = 0;

	for (size_t i = 0; i < events->n_cpus && !ret; i++) {
		const int fd = pmu_percpu_fd(events, i, 0);

		if (fd < 0)
			continue;
		if (own)
			cpus_visit(cpus->online[i]); /* elsewhere, reading only takes longer */
		ret = bpfprog_set_cycles(b, cpus->online[i], fd, base_of(fd));
	}
	cpus_return(own);
	return ret ? err_set(err, ret,
			     "cannot connect the cycle counter: %s; record without -k tsc",
			     strerror(-ret))
		   : 0;
}

void cycles_print(uint32_t id, struct text *line)
{
	const struct meta_counter m = {
		.id = id,
		.name = "tsc",
		.event = "msr/tsc/",
		.role = META_STAMP,
		.unit = "cycles",
		.source = pmu_source_name(PMU_OTHER),
		.period = 1,
		.by_default = true,
		.empty_mean = NAN,
		.why = "",
	};

	meta_print_counter(&m, line);
}
