/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * record -k tsc: every entry and exit is stamped with the cycle counter, too. The programs read it
 * as the event msr/tsc/ of their CPU, which counts from when it was opened: what the TSC was then
 * is measured here, on the CPU itself.
 */
#ifndef ISPOT_PROBES_SESSION_CYCLES_H
#define ISPOT_PROBES_SESSION_CYCLES_H

#include <stdint.h>

#include "pmu/percpu.h"

struct bpfprog;
struct cpus;
struct err;
struct text;

/* The event on every CPU. -ENOTSUP: this machine has no counter that can be trusted, and why. */
int cycles_open(struct pmu_percpu *events, const struct cpus *cpus, struct err *err);
/* With the loaded programs; of none that are open: nothing. */
int cycles_connect(const struct pmu_percpu *events, const struct cpus *cpus, struct bpfprog *b,
		   struct err *err);
/* Its meta line, as the counter of this id. */
void cycles_print(uint32_t id, struct text *line);

#endif
