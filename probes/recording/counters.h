/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The events of -e, which are counted in each call: opens them on every CPU and describes them in
 * the file. The functions are called in this order. */
#ifndef ISPOT_PROBES_RECORDING_COUNTERS_H
#define ISPOT_PROBES_RECORDING_COUNTERS_H

#include <stddef.h>
#include <stdint.h>

#include "pmu/group.h"
#include "pmu/percpu.h"
#include "probes/kernel/bpfprog.h"

struct err;
struct recording;

struct recorded_counters {
	struct pmu_list list; /* perf events first; the index is the counter's id in the file */
	struct pmu_percpu events;
	uint32_t period; /* one recorded call in `period` is counted */
};

/* Opens the events of -e on every CPU. */
int recorded_counters_open(struct recorded_counters *c, const struct recording *r, struct err *err);
struct bpfprog_counters recorded_counters_plan(const struct recorded_counters *c);
/* Connects them with the loaded programs. */
int recorded_counters_connect(const struct recorded_counters *c, const struct recording *r,
			      struct err *err);
void recorded_counters_write(const struct recorded_counters *c, struct recording *r);
void recorded_counters_release(struct recorded_counters *c);
/* Returns the core PMU's name from libpfm4 or else from sysfs, or "none" if perf has none. */
const char *recorded_counters_pmu(char *buf, size_t n);

#endif
