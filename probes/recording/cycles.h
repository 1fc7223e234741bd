/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * record -k tsc: every entry and exit also gets the cycle counter. The BPF programs read it as the
 * event msr/tsc/ of their CPU, which counts from the time when it was opened. The TSC at that time
 * is measured here, on the CPU itself.
 */
#ifndef ISPOT_PROBES_RECORDING_CYCLES_H
#define ISPOT_PROBES_RECORDING_CYCLES_H

#include <stdint.h>

#include "pmu/percpu.h"

struct bpfprog;
struct cpus;
struct err;
struct text;

/*
 * Opens the event on every CPU. -ENOTSUP: this machine has no counter that can be trusted; the
 * message says why.
 */
int cycles_open(struct pmu_percpu *events, const struct cpus *cpus, struct err *err);
/* Passes the events to the loaded BPF programs; does nothing if none are open. */
int cycles_connect(const struct pmu_percpu *events, const struct cpus *cpus, struct bpfprog *b,
		   struct err *err);
/* Prints its meta line as the counter with this id. */
void cycles_print(uint32_t id, struct text *line);

#endif
