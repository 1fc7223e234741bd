/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --solo: windows in which the program's threads share one CPU (probes/process/solo.h). */
#ifndef ISPOT_PROBES_RECORDING_SOLO_H
#define ISPOT_PROBES_RECORDING_SOLO_H

#include <stdint.h>

#include "probes/process/solo.h"

struct recording;

struct session_solo {
	struct solo windows;
	uint64_t n, cost_ns; /* of the windows that are over */
};

void session_solo_begin(struct session_solo *solo, struct recording *r);
/* Called in each turn of the loop. */
void session_solo_step(struct session_solo *solo, struct recording *r);
void session_solo_stop(struct session_solo *solo, struct recording *r);
/* Returns what the windows so far have cost. */
uint64_t session_solo_cost_ns(const struct session_solo *solo);
void session_solo_release(struct session_solo *solo);

#endif
