/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which samples of a CPU's counters are an application's: those during which it had the CPU all
 * the while. A sample that another application, or idleness, is a part of says nothing of either.
 */
#ifndef ISPOT_ANALYSIS_FLEET_IPC_H
#define ISPOT_ANALYSIS_FLEET_IPC_H

#include <stdint.h>

#include "base/vec.h"

struct fleet_live;

struct fleet_ipc_sample {
	uint32_t cpu, app;
	uint64_t start_ns, end_ns, instructions, cycles;
};

struct fleet_ipc {
	struct {
		VEC(struct fleet_ipc_sample)
	} samples;	/* of a CPU in the order of their times */
	uint64_t mixed; /* samples of more than one application, so far */
};

/* Instructions per cycle in millionths, as analysis/fleet/simulate/simulate.h has them. */
uint32_t fleet_ipc_value(uint64_t instructions, uint64_t cycles);
/* Those that are one application's become l's measures; its presences are all there, and are sorted
 * by this. Forgets the samples. */
void fleet_ipc_take(struct fleet_ipc *f, struct fleet_live *l);
void fleet_ipc_release(struct fleet_ipc *f);

#endif
