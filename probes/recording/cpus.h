/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * CPUs come online and go offline while a recording runs. A new CPU has no ring until ispot notices
 * it: the events that its programs drop meanwhile are counted as dropped, with their time. The
 * kernel's own events of a CPU end with the CPU, so those that report mappings are opened again.
 */
#ifndef ISPOT_PROBES_RECORDING_CPUS_H
#define ISPOT_PROBES_RECORDING_CPUS_H

#include <stdint.h>

struct recording;

struct known_cpus {
	uint64_t looked_ns; /* 0: nothing is watched yet */
};

/* Notes that the CPUs are known as of now. Returns the time. */
uint64_t known_cpus_note(struct known_cpus *c);
/* Adds rings for the CPUs that came online since the last call. */
void known_cpus_check(struct known_cpus *c, struct recording *r);

#endif
