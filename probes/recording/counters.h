/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the calls of a recording count: the events, opened on every CPU, and their meta lines. The
 * functions are called in this order. */
#ifndef ISPOT_PROBES_RECORDING_COUNTERS_H
#define ISPOT_PROBES_RECORDING_COUNTERS_H

#include <stddef.h>
#include <stdint.h>

#include "pmu/group.h"
#include "pmu/percpu.h"
#include "probes/kernel/bpfprog.h"

struct err;
struct recording;

struct session_counters {
	struct pmu_list list; /* perf events first; the index is the counter's id in the file */
	struct pmu_percpu events;
	uint32_t period; /* one recorded call in `period` is counted */
};

int session_counters_open(struct session_counters *c, struct recording *r,
			  struct err *err); /* -e, on every CPU */
struct bpfprog_counters session_counters_plan(const struct session_counters *c);
int session_counters_connect(struct session_counters *c, struct recording *r,
			     struct err *err); /* with the loaded programs */
void session_counters_write(struct session_counters *c, struct recording *r);
void session_counters_release(struct session_counters *c);
/* Returns the core PMU's name from libpfm4 or else from sysfs, or "none" if perf has none. */
const char *session_counters_pmu(char *buf, size_t n);

#endif
