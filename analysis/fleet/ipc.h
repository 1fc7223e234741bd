/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which samples of a CPU's counters belong to an application: those during which it had the CPU all
 * the time. A sample that is partly of another application, or of an idle CPU, measures neither. */
#ifndef ISPOT_ANALYSIS_FLEET_IPC_H
#define ISPOT_ANALYSIS_FLEET_IPC_H

#include <stdint.h>

#include "base/vec.h"
#include "trace/fleet/block.h"

struct fleet_live;

struct fleet_ipc_sample {
	uint32_t cpu, app;
	uint64_t start_ns, end_ns;
	uint32_t values[FLEET_INDICATORS];
};

struct fleet_ipc {
	struct {
		VEC(struct fleet_ipc_sample)
	} samples;			       /* those of one CPU are in order of time */
	uint32_t n;			       /* values of each sample */
	uint32_t indicators[FLEET_INDICATORS]; /* [value]: number of its indicator */
	uint64_t mixed; /* samples dropped as not of one application, so far */
};

/* Instructions per cycle in millionths (FLEET_IPC_SCALE). */
uint32_t fleet_ipc_value(uint64_t instructions, uint64_t cycles);
/* Events per 1,000 instructions in millionths, at least one of these: performance is the inverse.
 */
uint32_t fleet_ipc_rate(uint64_t events, uint64_t instructions);
/* Adds the samples that belong to one application to l's measures, and forgets all samples. l must
 * have all its presences; this function sorts them. */
void fleet_ipc_deliver(struct fleet_ipc *f, struct fleet_live *l);
void fleet_ipc_release(struct fleet_ipc *f);

#endif
