/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The parts of a machine that its CPUs share: the core (hardware threads of one), the last cache,
 * the socket. Numbers mean nothing but equality. Where the kernel does not tell, a CPU is a core of
 * its own, and all CPUs of a socket share a cache. Of an offline CPU the kernel tells nothing: it
 * shares nothing.
 */
#ifndef ISPOT_TRACE_FLEET_TOPOLOGY_H
#define ISPOT_TRACE_FLEET_TOPOLOGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cpus.h"

struct topology_cpu {
	uint16_t core, cache, socket;
};

struct topology {
	uint32_t n; /* CPUs 0 … n - 1 */
	struct topology_cpu cpus[CPUS_MAX];
};

int topology_read(struct topology *t); /* of this machine; 0 or -errno */
/*
 * Reads the topology of the CPUs that are online now; the known topology of others stays. Returns
 * whether any of it is new.
 */
bool topology_update(struct topology *t, const struct cpus *online);

/* Machines that compare: the processor's name and the number of CPUs. */
void topology_type(const struct topology *t, char *buf, size_t n);

#endif
