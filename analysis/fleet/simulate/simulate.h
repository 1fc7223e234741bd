/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Samples of a simulated fleet (world.h): machines with two sockets and two hardware threads per
 * core run changing mixes of applications. A sample lasts for 2.5 million instructions, as in the
 * paper; its value is its IPC in millionths.
 */
#ifndef ISPOT_ANALYSIS_FLEET_SIMULATE_SIMULATE_H
#define ISPOT_ANALYSIS_FLEET_SIMULATE_SIMULATE_H

#include <stdint.h>

struct fleet_block;
struct fleet_header;
struct world;

#define FLEET_IPC_SCALE 1000000 /* scale of values in instructions per cycle */

struct machine;

/* Returns the n-th machine, freed by the caller. cpus: from 4 to CPUS_MAX, a multiple of 4. */
struct machine *machine_new(const struct world *w, uint64_t seed, uint32_t n, uint32_t cpus);
/* Before the first block: its file has llc-misses as well, more of them beside those who slow. */
void machine_measure_misses(struct machine *m);
const struct fleet_header *machine_header(const struct machine *m);
/* Simulates the next second of a machine. */
void machine_block(struct machine *m, struct fleet_block *b);
void machine_free(struct machine *m);

#endif
