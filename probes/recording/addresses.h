/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Addresses that were arguments. Those in the data of a mapped file are places in the file, found
 * while their process is alive and named when the recording ends. The others (heap, stacks) stay
 * numbers.
 */
#ifndef ISPOT_PROBES_RECORDING_ADDRESSES_H
#define ISPOT_PROBES_RECORDING_ADDRESSES_H

#include <stdint.h>

#include "base/vec.h"

struct dso;
struct recording;

/* Arguments that are addresses in the data of a file. */
struct recorded_address {
	uint64_t value;
	struct dso *dso;
	uint64_t address; /* as in the file */
};

struct recorded_addresses {
	VEC(struct recorded_address)
};

/* Called after stacks_add(). */
void addresses_add(struct recorded_addresses *addresses, struct recording *r);
void addresses_write(const struct recorded_addresses *addresses, struct recording *r);
void addresses_release(struct recorded_addresses *addresses);

#endif
