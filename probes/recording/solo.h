/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --solo: windows in which the program's threads share one CPU (probes/process/solo.h). */
#ifndef ISPOT_PROBES_RECORDING_SOLO_H
#define ISPOT_PROBES_RECORDING_SOLO_H

#include <stdint.h>

#include "probes/process/solo.h"

struct recording;

struct solo_windows {
	struct solo windows;
	uint64_t n, cost_ns; /* of the windows that are over */
};

void solo_windows_begin(struct solo_windows *solo, struct recording *r);
/* Called in each turn of the loop. */
void solo_windows_step(struct solo_windows *solo, struct recording *r);
void solo_windows_stop(struct solo_windows *solo, struct recording *r);
/* Returns what the windows so far have cost. */
uint64_t solo_windows_cost_ns(const struct solo_windows *solo);
void solo_windows_release(struct solo_windows *solo);

#endif
