/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Samples of a made-up fleet (world.h): machines with two sockets and two hardware threads a
 * core run changing mixes of applications; a sample is 2.5 million instructions long, as in the
 * paper, and its value is its IPC in millionths.
 */
#ifndef ISPOT_ANALYSIS_FLEET_SIMULATE_SIMULATE_H
#define ISPOT_ANALYSIS_FLEET_SIMULATE_SIMULATE_H

#include <stdint.h>

struct fleet_block;
struct fleet_header;
struct world;

#define FLEET_IPC_SCALE 1000000 /* of values that are instructions per cycle */

struct machine;

/* The n-th machine; freed by the caller. cpus: from 4 to CPUS_MAX, a multiple of 4. */
struct machine *machine_new(const struct world *w, uint64_t seed, uint32_t n, uint32_t cpus);
const struct fleet_header *machine_header(const struct machine *m);
/* The next second of it. */
void machine_block(struct machine *m, struct fleet_block *b);
void machine_free(struct machine *m);

#endif
